"""Optimizers: what a case states of one (its section of the recipe, rate, decay and state), and copies of one in any format,
which leave the program's own as it is."""
import contextlib
import copy
import math

import torch

from ..user_code import CaptureError, generators_kept

# By class: the section's kind and its options by their PyTorch names, the decay's kind, the state's tensors, and
# switches that must be off.
KNOWN = {
    "SGD": ("sgd", {"momentum": "momentum", "dampening": "dampening", "nesterov": "nesterov"}, "l2",
            {"momentum_buffer": "momentum"}, ("maximize",)),
    "Adam": ("adam", {"eps": "eps"}, "l2", {"exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq"},
             ("maximize", "amsgrad")),
    "AdamW": ("adam", {"eps": "eps"}, "decoupled", {"exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq"},
              ("maximize", "amsgrad")),
    "RMSprop": ("rmsprop", {"alpha": "alpha", "eps": "eps", "momentum": "momentum"}, "l2",
                {"square_avg": "square_avg", "momentum_buffer": "momentum_buffer"}, ("maximize", "centered")),
    "Lion": ("lion", {}, "decoupled", {"exp_avg": "exp_avg"}, ("maximize",)),
}
MOST_NAMES = 8  # that a line lists
KERNELS = ("foreach", "fused")  # options that choose how a step is computed
OF_SCHEDULES = ("initial_lr", "max_lr", "min_lr", "swa_lr")
NOT_COPIED = ("step", "grad_scale", "found_inf")  # what schedules, the recorder and a GradScaler put on the object


def number(value):
    """A number of the recipe as JSON writes it: the shortest decimal that reads as the same binary64 number."""
    return value if isinstance(value, bool) else float(value)


def plainly(option):
    """An option to compare and to print: a tensor of one element is its number."""
    if isinstance(option, torch.Tensor):
        return option.item() if option.numel() == 1 else option.tolist()
    return tuple(map(plainly, option)) if isinstance(option, (list, tuple)) else option


def own_function(kind):
    """The step that a class defines, without what PyTorch wraps around it for its profiler and its hooks."""
    return getattr(kind.step, "__wrapped__", kind.step) if getattr(kind.step, "hooked", False) else kind.step


def listed(names):
    return ", ".join(names[:MOST_NAMES]) + (f" (and {len(names) - MOST_NAMES} more)" if len(names) > MOST_NAMES else "")


class ReadsOptimizer:
    """What a case states of an optimizer; `names` gives the name of each trained parameter."""

    def __init__(self, optimizer, names):
        self.optimizer, self.names = optimizer, names
        self.keeps = optimizer.optim if hasattr(optimizer, "_param_to_rank") else optimizer  # ZeRO holds this rank's own
        made, self.name = type(self.keeps), type(optimizer).__name__
        kind = next((base.__name__ for base in made.__mro__ if base.__name__ in KNOWN and
                     own_function(base) is own_function(made)), None)
        if kind is None and isinstance(getattr(optimizer, "optimizer", None), torch.optim.Optimizer):
            raise CaptureError(f"optimizer: found {self.name}, which wraps another, expected the one that steps; pass its .optimizer")
        self.kind, self.options, self.decay_kind, self.states, self.off = KNOWN.get(kind, (None, {}, "none", {}, ()))
        if kind == "Adam" and optimizer.defaults.get("decoupled_weight_decay"):
            self.decay_kind = "decoupled"

    def unstated(self):
        """Why no case states the step as it is now; None where one does."""
        if self.kind is None:
            return f"Tally states no {self.name}"
        for group in self.optimizer.param_groups:
            for switch in self.off:
                if group.get(switch):
                    return f"Tally states no {self.name} with {switch}=True"
        if self.rounds_often():
            dtype = str(next(iter(self.names)).dtype).rpartition(".")[2]
            return f"{self.name} rounds parameters of {dtype} more than once a step"
        decays = {float(group.get("weight_decay", 0)) for group in self.optimizer.param_groups} - {0.0}
        once = (name for name in self.keeps.defaults if name not in KERNELS and (name != "weight_decay" or len(decays) > 1))
        differing = self.differing(once)
        return f"groups of parameters differ in {', '.join(differing)}" if differing else None

    def rounds_often(self):
        """Whether the parameters have 16 bits and a step rounds to them more than once: PyTorch does after each of its
        operations, and a case once. The product of a rate that is a power of 2 rounds nothing in bf16."""
        parameter, groups = next(iter(self.names)), self.optimizer.param_groups
        plain = self.kind == "sgd" and not any(group["momentum"] or group["weight_decay"] for group in groups)
        exact = parameter.dtype == torch.bfloat16 and math.frexp(self.rate())[0] == 0.5
        return parameter.element_size() == 2 and not (plain and exact)

    def differing(self, names):
        """Those of these options in which groups differ."""
        groups = self.optimizer.param_groups
        return [name for name in names if any(plainly(group.get(name)) != plainly(groups[0].get(name)) for group in groups[1:])]

    def stated(self):
        """The options that a case states once, by their PyTorch names, as they are now."""
        return {**self.options_now(), "weight_decay": self.decay()}

    def options_now(self):
        group = self.optimizer.param_groups[0]
        return {name: plainly(group[name]) for name in (*self.options, "betas") if name in group}

    def numbers_now(self):
        """The first group's options that are numbers, but the rate."""
        group = self.optimizer.param_groups[0]
        found = {name: plainly(group[name]) for name in self.keeps.defaults if name in group and name != "lr"}
        return {name: value for name, value in found.items() if isinstance(value, (int, float, tuple)) and not isinstance(value, bool)}

    def by_group(self):
        """A line for each option in which groups differ; where they have one rate, also for numbers that no step reads."""
        groups, read, found = self.optimizer.param_groups, self.keeps.defaults, []
        names = self.differing(name for name in read if name not in KERNELS)
        if "lr" not in names:
            names += self.differing(name for name in groups[0] if name not in read and name not in OF_SCHEDULES and
                                    isinstance(groups[0][name], (int, float)))
        for name in names:
            by_value = {}
            for group in groups:
                by_value.setdefault(str(plainly(group.get(name))), []).extend(self.names_of(group))
            words = [f"{value} for {listed(held)}" for value, held in by_value.items() if held]
            rest = "" if name in read else f", which {self.name} does not read: in its step all groups are alike"
            how = f"look at {name}: by group" if rest else f"assumed: {name} by group:"
            found += [f"{how} {'; '.join(words)}{rest}"] if len(words) > 1 else []
        return found

    def decays_unevenly(self):
        """A line where some vectors decay, as biases and the weights of norms are, and others do not."""
        by_decay = {}
        for group in self.optimizer.param_groups:
            vectors = [self.names[parameter] for parameter in group["params"] if parameter in self.names and parameter.dim() < 2]
            by_decay.setdefault(bool(group.get("weight_decay")), []).extend(vectors)
        if not all(by_decay.get(decays) for decays in (True, False)):
            return []
        return [f"look at weight_decay: {listed(by_decay[True])} decay as matrices do, {listed(by_decay[False])} "
                "do not; pass weight_decay={…, 'exclude': [names]} as it is meant"]

    def names_of(self, group):
        return [self.names[parameter] for parameter in group["params"] if parameter in self.names]

    def replaced(self, at_steps):
        """A line for each option that is another in the groups than where the optimizer was made, and the same at all steps."""
        found = []
        for name, value in self.options_now().items():
            made = plainly(self.keeps.defaults.get(name, value))
            if made != value and all(each.get(name, value) == value for each in at_steps):
                found.append(f"look at {name}: it is {value!r} in the groups of an optimizer that was made with {made!r}: a schedule, a "
                             "loaded state or the group itself has replaced it")
        return found

    def section(self, group):
        """The section `optimizer` of these options."""
        found = {"kind": self.kind, **{ours: number(group[theirs]) for theirs, ours in self.options.items()}}
        if "betas" in group:
            found["beta1"], found["beta2"] = (number(beta) for beta in group["betas"])
        if self.kind == "sgd" and not found["momentum"]:
            del found["dampening"]
        return found

    def rate(self):
        """The rate in force in the first group; 0 where an optimizer has none."""
        rate = plainly(self.optimizer.param_groups[0].get("lr"))
        return float(rate) if isinstance(rate, (int, float)) else 0.0

    def decay(self):
        """The section `weight_decay`: the one coefficient, and the parameters it leaves out."""
        groups = [(float(group.get("weight_decay", 0)), group) for group in self.optimizer.param_groups]
        found = sorted({value for value, _ in groups if value})
        if not found:
            return {"kind": "none"}
        left_out = [self.names[p] for value, group in groups if not value for p in group["params"] if p in self.names]
        if set(left_out) == {name for name in self.names.values() if name.endswith(".bias")}:
            left_out = ["bias"] if left_out else []
        return {"kind": self.decay_kind, "lambda": found[0], **({"exclude": left_out} if left_out else {})}

    def state(self, parameter):
        """The state's tensors by the names of a case; empty before the first step."""
        held = self.keeps.state.get(parameter, {})
        return {ours: held[theirs] for theirs, ours in self.states.items() if held.get(theirs) is not None}

    def divides_itself(self):
        """Whether the step that begins divides by the scale of a GradScaler, as fused optimizers do."""
        return getattr(self.optimizer, "grad_scale", None) is not None

    def skips_itself(self):
        """Whether a GradScaler told the step that begins to do nothing."""
        found = getattr(self.optimizer, "found_inf", None)
        return found is not None and bool(found)

    def steps_taken(self, otherwise):
        """How many steps the optimizer says it took, of its parameters the most; `otherwise` where it does not count."""
        held = [self.keeps.state[p] for p in self.names if p in self.keeps.state] if self.kind else []
        counts = {int(state["step"]) for state in held if "step" in state}
        return max(counts) if counts else otherwise


def tensors_in(value):
    """All tensors of dicts, lists and tuples."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from tensors_in(key)
            yield from tensors_in(each)
    elif isinstance(value, (list, tuple, set)):
        for each in value:
            yield from tensors_in(each)


def is_pytorchs(optimizer):
    return own_function(type(optimizer)).__module__.startswith("torch.optim")


def stepped(optimizer):
    """Takes the step of a copy, without hooks."""
    own_function(type(optimizer))(optimizer)


def copied(optimizer, cast):
    """The optimizer over copies of its parameters, gradients and state, each of them `cast`. PyTorch's own steps run
    operation by operation, so that their fused kernels are held to something else."""
    memo, held = {}, {key: value for key, value in vars(optimizer).items() if key not in NOT_COPIED}
    scale = getattr(optimizer, "grad_scale", None)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            clone = torch.nn.Parameter(cast(parameter), parameter.requires_grad)
            if parameter.grad is not None:
                clone.grad = cast(parameter.grad) if scale is None else cast(parameter.grad).div_(scale)
            vars(clone).update(vars(parameter))
            memo[id(parameter)] = clone
    for value in tensors_in(held):
        if id(value) not in memo:
            memo[id(value)] = cast(value)
    other = memo[id(optimizer)] = object.__new__(type(optimizer))
    other.__dict__ = copy.deepcopy(held, memo)
    if is_pytorchs(optimizer):
        for group in other.param_groups:
            group.update({key: False for key in (*KERNELS, "capturable") if key in group})
    for group, theirs in zip(other.param_groups, optimizer.param_groups):
        eps = group.get("eps")
        if isinstance(eps, (list, tuple)) and eps[0] is None:  # Adafactor's: that of the parameters' format
            group["eps"] = (torch.finfo(theirs["params"][0].dtype).eps, *eps[1:])
    return other


@contextlib.contextmanager
def same_draws(devices):
    """Leaves the program's random numbers as they were. Those of PyTorch are others in float64: no step may draw them."""
    places = [device for device in devices if device.type == "cuda"]

    def states():
        return [torch.get_rng_state(), *map(torch.cuda.get_rng_state, places)]
    with generators_kept(places):
        before = states()
        yield
        if not all(map(torch.equal, before, states())):
            raise CaptureError("it draws random numbers, which are others in float64")


class Held:
    """The tensors of an optimizer by place: ("p", group, number), or ("s", number of the parameter, name …)."""

    def __init__(self, optimizer, names):
        self.values, self.words = {}, {}
        for i, group in enumerate(optimizer.param_groups):
            for j, parameter in enumerate(group["params"]):
                name = names.get(parameter, f"parameter {j} of group {i}")
                self.take(("p", i, j), parameter, name)
                self.walk(("s", i, j), optimizer.state.get(parameter, {}), name)

    def take(self, place, value, words):
        self.values[place], self.words[place] = value.detach(), words

    def walk(self, place, value, words):
        if isinstance(value, torch.Tensor):
            self.take(place, value, words)
        elif isinstance(value, dict):
            for key, each in value.items():
                self.walk((*place, str(key)), each, f"{words}, {key}")
        elif isinstance(value, (list, tuple)):
            for i, each in enumerate(value):
                self.walk((*place, i), each, f"{words}, {i}")
