"""What a case states once and a loop may change: the options of the optimizer, and which parameters there are."""
from .changes import same
from .optimizers import MOST_NAMES
from .unjudged import counted


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
        held = {id(parameter) for group in self.optimizer.param_groups for parameter in group["params"]}
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
    capture.report.say_of_kind("behind a step", f"not judged: what changes {what} behind the step of window {window}, such as a clamp, an "
                               "average or another optimizer")
    return f"{what} {'are' if changed[1:] else 'is'} changed behind a step"


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
    """From a step on that no case states, the stretch leaves the update out."""
    segment, reads = capture.segment, capture.reads
    capture.numbers_at_steps.append(reads.numbers_now())
    why = not_stated(reads, segment)
    if why is None and segment.options is None:
        segment.options = reads.stated()
    elif why is not None and segment.without_update is None:
        segment.without_update, segment.without_update_from = why, window
    compare_parameters(capture, window)
