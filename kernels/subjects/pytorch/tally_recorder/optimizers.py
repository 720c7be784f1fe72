"""What is read from an optimizer: its section of the recipe, its rate, its decay, its state."""
import math

import torch

from .errors import CaptureError

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
MAY_DIFFER = ("params", "weight_decay", "initial_lr", "name", "foreach", "fused")


def number(value):
    """A number of the recipe as JSON writes it: the shortest decimal that reads as the same binary64 number."""
    return value if isinstance(value, bool) else float(value)


def numbers(option):
    """One, or those of a pair, as a list or a tuple."""
    return option if isinstance(option, (list, tuple)) else (option,)


class ReadsOptimizer:
    """`names` gives the name of each trained parameter."""

    def __init__(self, optimizer, names):
        self.optimizer, self.names = optimizer, names
        self.keeps = optimizer.optim if hasattr(optimizer, "_param_to_rank") else optimizer  # of ZeRO: this rank's own
        kind = next((base.__name__ for base in type(self.keeps).__mro__ if base.__name__ in KNOWN), None)
        if kind is None:
            wraps = isinstance(getattr(optimizer, "optimizer", None), torch.optim.Optimizer)
            raise CaptureError(f"optimizer: found {type(optimizer).__name__}, expected one of {', '.join(KNOWN)}; "
                               + ("pass its .optimizer" if wraps else "train with one of these"))
        self.kind, self.options, self.decay_kind, self.states, off = KNOWN[kind]
        if kind == "Adam" and optimizer.defaults.get("decoupled_weight_decay"):
            self.decay_kind = "decoupled"
        for group in optimizer.param_groups:
            for switch in off:
                if group.get(switch):
                    raise CaptureError(f"optimizer: found {switch}=True, expected it off; no recipe states it")
        for place, found, expected, next_step in self.differences():
            raise CaptureError(f"optimizer, {place}: found {found}, expected {expected}; {next_step}")

    def rounds_often(self):
        """Whether the parameters have 16 bits and a step rounds to them more than once: PyTorch does after each of its
        operations, and a case once. In bf16 the product of a rate that is a power of 2 rounds nothing."""
        parameter, groups = next(iter(self.names)), self.optimizer.param_groups
        plain = self.kind == "sgd" and not any(group["momentum"] or group["weight_decay"] for group in groups)
        exact = parameter.dtype == torch.bfloat16 and math.frexp(self.rate())[0] == 0.5
        return parameter.element_size() == 2 and not (plain and exact)

    def differences(self):
        """Where groups differ in what a recipe says once, and parameters that it cannot state."""
        first = self.optimizer.param_groups[0]
        if self.rounds_often():
            dtype = str(next(iter(self.names)).dtype).rpartition(".")[2]
            yield ("its parameters", f"{dtype} under {type(self.optimizer).__name__} at the rate {self.rate()!r}",
                   "float32, as PyTorch rounds each operation of such a step to 16 bits", "keep the parameters in fp32 "
                   "and compute under torch.autocast; of 16 bits, bf16 is judged under SGD without momentum and decay at a "
                   "rate that is a power of 2")
        for i, group in enumerate(self.optimizer.param_groups[1:], 1):
            for key, value in group.items():
                if key not in MAY_DIFFER and value != first.get(key):
                    what_next = ("a case has one learning rate, record a run in which all groups have the same"
                                 if key == "lr" else "groups may differ in weight_decay alone, record a run in which "
                                 "they do not differ in this")
                    yield (f"group {i}", f"{key}={value!r}", f"{first.get(key)!r} as in group 0", what_next)

    def stated(self):
        """The options that a recipe states, by their PyTorch names, as they are now."""
        group = self.optimizer.param_groups[0]
        return {name: group[name] for name in (*self.options, "betas") if name in group}

    def decay_by_group(self):
        """A line that says which parameters decay, where not all do alike."""
        by_value = {}
        for group in self.optimizer.param_groups:
            by_value.setdefault(float(group.get("weight_decay", 0)), []).extend(
                self.names[parameter] for parameter in group["params"] if parameter in self.names)
        if len(by_value) < 2:
            return []
        words = [f"{value!r} for {', '.join(names[:MOST_NAMES])}" + (f" (and {len(names) - MOST_NAMES} more)" if
                 len(names) > MOST_NAMES else "") for value, names in by_value.items() if names]
        return [f"assumed: weight_decay by group: {'; '.join(words)}"]

    def replaced(self):
        """A line for each option that is another in the groups than where the optimizer was made."""
        found = []
        for name, value in self.stated().items():
            made = getattr(self.optimizer, "defaults", {}).get(name, value)
            if tuple(numbers(made)) != tuple(numbers(value)):
                found.append(f"assumed: {name} is {value!r}, as the optimizer's groups have it; the optimizer was made with "
                             f"{made!r}, which a schedule, a loaded state or the group itself has replaced")
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
        """The rate in force, equal in all groups."""
        return float(self.optimizer.param_groups[0]["lr"])

    def decay(self):
        """The section `weight_decay`: one coefficient, and the parameters it leaves out."""
        groups = [(float(group.get("weight_decay", 0)), group) for group in self.optimizer.param_groups]
        found = sorted({value for value, _ in groups if value})
        if len(found) > 1:
            raise CaptureError(f"optimizer: found the weight_decay {found}, expected one value besides 0; a case holds "
                               "one, record with one")
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
        counts = {int(self.keeps.state[p]["step"]) for p in self.names if "step" in self.keeps.state.get(p, {})}
        return max(counts) if counts else otherwise
