"""Parameters: which elements are kept of each, and what may not change of them or of the optimizer's options, as a case states it
once."""
import torch
import torch.nn.functional as F

from ..ranks import local
from ..report import counted
from ..user_code import CaptureError, held_by
from .accumulation import same
from .losses import autocast_is_on
from .optimizers import MOST_NAMES

SAMPLE_SEED = 1
ELEMENTS_AT_ONCE = 1 << 20  # elements that are added up in one go
MOST_COLUMNS = 1 << 12


def dense(value):
    return value.to_dense() if value.is_sparse else value


class Views:
    """What is kept of the loop's tensors, by the name of their parameter. `turned` names the weights that the network
    holds as [in, out]; a case has them as [out, in]."""

    def __init__(self, parameters, reads, samples, turned=frozenset()):
        self.parameters, self.reads, self.samples, self.turned = parameters, reads, samples, turned
        self.shared = any(hasattr(parameter, "to_local") for parameter in parameters.values())

    def turn(self, name, value):
        return value.t() if name in self.turned and value is not None and value.dim() == 2 else value

    def as_stated(self, name, value):
        return self.turn(name, self.samples.of(name, value))

    def part(self, name, value):
        """What is kept of a gradient of this parameter."""
        return self.as_stated(name, dense(value))

    def gradient(self, name):
        """What is kept of .grad; None where there is none."""
        gradient = self.parameters[name].grad
        return None if gradient is None else self.own(self.part(name, local(gradient.detach())))

    def sum_of_squares(self):
        """The sum of squares of every .grad, sampled or not."""
        gradients = (parameter.grad for parameter in self.parameters.values())
        return self.samples.sum_of_squares(dense(each) for each in gradients if each is not None)

    def given(self, name):
        """What a case is given of a parameter: the rank's own rows of one that ranks share."""
        return self.as_stated(name, local(self.parameters[name].detach()))

    def given_state(self, name):
        return {key: self.as_stated(name, local(value)) for key, value in self.reads.state(self.parameters[name]).items()}

    def value(self, name):
        return self.own(self.given(name))

    def state(self, name):
        """What is kept of the optimizer's state."""
        return {key: self.own(value) for key, value in self.given_state(name).items()}

    def own(self, value):
        """A tap of what ranks share holds the rank's elements in a row."""
        return value.reshape(-1) if self.shared else value


class Samples:
    """Draws `count` elements of each tensor that has more, the same at every stage, with a seed (one drawn twice counts
    once); None keeps all elements of all tensors."""

    def __init__(self, parameters, count, seed=SAMPLE_SEED):
        if count is not None and (type(count) is not int or count < 1):
            raise CaptureError(f"samples: found {count!r}, expected a whole number of at least 1; pass how many elements "
                               "of each tensor are recorded")
        self.count, self.seed, self.places = count, seed, {}
        self.elements = sum(parameter.numel() for parameter in parameters.values())
        for name, parameter in parameters.items():
            if count is not None and parameter.numel() > count:
                drawn = torch.Generator().manual_seed(seed + len(self.places))
                places = torch.randint(parameter.numel(), (count,), generator=drawn).unique()
                self.places[name] = places.to(parameter.device)

    def of(self, name, value):
        """The drawn elements of a tensor that belongs to the parameter of this name; None stays None."""
        if value is None or name not in self.places:
            return value
        return value.detach().reshape(-1)[self.places[name]]

    def shape(self, name, parameter):
        return [len(self.places[name])] if name in self.places else list(parameter.shape)

    def kept(self, parameters):
        """How many elements are recorded."""
        return sum(len(self.places[name]) if name in self.places else parameter.numel()
                   for name, parameter in parameters.items())

    def sum_of_squares(self, gradients):
        """The sum of squares of all elements, in binary64, which a norm or a search for overflow reads beside the
        sample."""
        total = 0.0
        for gradient in gradients:
            for part in gradient.detach().reshape(-1).split(ELEMENTS_AT_ONCE):
                part = part.double()
                total += float(torch.dot(part, part))
        return total

    def lines(self, parameters):
        if not self.places:
            return []
        return [f"judged by samples: {self.kept(parameters)} of {self.elements} elements, at most {self.count} of each "
                f"tensor (seed {self.seed}); an error in a share f of a tensor's elements is missed with probability "
                f"(1 - f)^{self.count}"]


class Frozen:
    """Parameters that stand still: a case has their values, and no window may change them."""

    def __init__(self, parameters, views):
        self.parameters, self.views, self.segment, self.kept = parameters, views, None, {}

    def look(self, segment, report, window):
        """Gives them to a stretch that begins with this window, and holds them to what another one has."""
        if segment is not self.segment:
            self.segment = segment
            for name, parameter in self.parameters.items():
                value = self.views.turn(name, parameter)
                segment.give(name, value)
                self.kept[name] = segment.tensors[name][0]
            return
        for name, parameter in self.parameters.items():
            if not same(segment.scratch.tensor(self.kept[name]), self.views.turn(name, parameter.detach())):
                report.problem(f"window {window}, {name}", "other values than when the recording began",
                               "the same, as the optimizer does not train it", "record it among the optimizer's "
                               "parameters, or the model as opaque")


def is_gathered(recorded, now):
    """Whether fully_shard has put the whole parameter in the place of the rank's rows for a while, as it leaves those of
    the outermost module from forward to backward."""
    return hasattr(recorded, "to_local") and not hasattr(now, "to_local") and recorded.shape == now.shape


class Members:
    """The model's parameters, those that are recorded among them by name, and what has become of them. `name_of`
    gives what a case calls one that the model calls so."""

    def __init__(self, model, optimizer, recorded, name_of):
        self.model, self.optimizer, self.recorded, self.name_of = model, optimizer, recorded, name_of
        self.known = {id(parameter): parameter for parameter in model.parameters()}
        self.told = False

    def differences(self):
        """A parameter that the model no longer has, or a new one; told once."""
        now = {self.name_of(name): parameter for name, parameter in self.model.named_parameters()}
        for name, parameter in self.recorded.items():
            if name in now and is_gathered(parameter, now[name]):
                now[name] = parameter
        present = {id(parameter) for parameter in now.values()}
        held = set(map(id, held_by(self.optimizer)))
        gone = [name for name, parameter in self.recorded.items() if id(parameter) not in present]
        new = [name for name, parameter in now.items() if id(parameter) not in self.known and parameter.requires_grad]
        free = [name for name in new if id(now[name]) not in held]
        if self.told or not gone and not new:
            return
        self.told = True
        if gone:
            found = "a parameter that the optimizer steps and the model no longer has" + (
                f"; no optimizer holds its new {counted(free[0], len(free) - 1)}" if free else "")
            yield (counted(gone[0], len(gone) - 1), found, "the parameters with which the recording began",
                   "make the optimizer after the layer is replaced, and record from then on")
        else:
            found = "a new parameter that no group of the optimizer holds" if free else "a new parameter"
            name = (free or new)[0]
            yield (counted(name, len(free or new) - 1), found, "the parameters with which the recording began",
                   "add it to the model and to the optimizer first, and record from then on")


def compare_parameters(capture, window):
    """What of the parameters differs now from what a case states once."""
    for place, *rest in capture.members.differences():
        capture.report.problem(f"window {window}, {place}", *rest)


def in_words(option):
    """A section weight_decay: "0.1", "0.1 but for 2 of them". Any other option as it is."""
    if not isinstance(option, dict):
        return repr(option)
    left_out = len(option.get("exclude", []))
    return str(option.get("lambda", 0)) + (f" but for {left_out} of them" if left_out else "")


def not_stated(reads, segment):
    """Why a case does not state the step as it would be now; None where it does. It states each option once: the value at
    the first recorded step."""
    why = reads.unstated()
    if why is not None or segment.options is None:
        return why
    now = reads.stated()
    changed = [name for name, value in segment.options.items() if now[name] != value]
    return "; ".join(f"{name} was {in_words(segment.options[name])} and is {in_words(now[name])}" for name in changed) or None


def changed_behind(capture):
    """What other code has changed since the last step of the stretch: parameters, or state that is gone; None where nothing is."""
    if capture.stepped is None:
        return None
    place, window = capture.stepped
    held, scratch = capture.segment.taps, capture.scratch
    changed = [name for name in capture.parameters
               if not same(scratch.tensor(held[f"{place}/optimizer/{name}"][0]), capture.views.value(name))]
    changed += [f"the state of {name}" for name, parameter in capture.parameters.items() if not capture.reads.state(parameter)
                and any(f"{place}/optimizer/{state}.{name}" in held for state in capture.reads.states.values())]
    if not changed:
        return None
    what = counted(changed[0], len(changed) - 1)
    capture.report.say_of_kind("behind a step", f"not judged: what changes {what} after the step of window {window}, such as a clamp, an "
                               "average or another optimizer")
    return f"{what} {'are' if changed[1:] else 'is'} changed after a step"


def moved(numbers_at_steps):
    """A line for each option that was another at some recorded step."""
    first = numbers_at_steps[0] if numbers_at_steps else {}
    lines = []
    for name in first:
        values = [str(each.get(name)) for each in numbers_at_steps]
        if len(set(values)) > 1:
            rest = f", … ({len(values)} steps)" if len(values) > MOST_NAMES else ""
            lines.append(f"look at {name}: at the recorded steps it is {', '.join(values[:MOST_NAMES])}{rest}")
    return lines


def compare_options(capture, window):
    """The stretch leaves updates out from the first step on that no case states."""
    segment, reads = capture.segment, capture.reads
    capture.numbers_at_steps.append(reads.numbers_now())
    why = not_stated(reads, segment)
    if why is None and segment.options is None:
        segment.options = reads.stated()
    elif why is not None and segment.without_update is None:
        segment.without_update, segment.without_update_from = why, window
    compare_parameters(capture, window)


class SeesStaleCasts:
    """Finds casts that autocast still holds although a step has changed the parameter since. The smallest matrix is
    multiplied by one once a step was taken: the product is what the model computes with."""

    def __init__(self, parameters):
        fit = {name: parameter for name, parameter in parameters.items() if parameter.dim() == 2 and
               parameter.dtype == torch.float32 and parameter.shape[1] <= MOST_COLUMNS}
        self.name = min(fit, key=lambda name: fit[name].numel(), default=None)
        self.parameter, self.stepped = fit.get(self.name), False

    def step_ends(self):
        self.stepped = self.parameter is not None and autocast_is_on(self.parameter.device.type)

    def look(self, report):
        """Reports such a cast; called before a forward pass, and looks once behind each step."""
        if self.found():
            report.wrong(f"the model computes with {self.name} as it was before the last step: autocast keeps its casts until "
                         "it is left; enter torch.autocast for each forward pass, not around the loop")

    def found(self):
        """Whether there is one. Gradients are on, so that what this casts is what the model would."""
        if not self.stepped:
            return False
        self.stepped, device = False, self.parameter.device.type
        if not (autocast_is_on(device) and torch.is_autocast_cache_enabled() and torch.is_grad_enabled()):
            return False
        used = F.linear(torch.eye(self.parameter.shape[1], device=device), self.parameter).detach().t()
        return not torch.equal(used, self.parameter.detach().to(used.dtype))
