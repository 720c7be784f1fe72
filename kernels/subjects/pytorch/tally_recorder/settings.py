"""What a case states once and a loop may change: the options of the optimizer, and which parameters there are."""
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
    """What of groups and parameters differs now from what a case states once."""
    for place, *rest in [*capture.reads.differences(), *capture.members.differences()]:
        capture.report.problem(f"window {window}, {place}", *rest)


def in_words(decay):
    """A section weight_decay: "0.1", "0.1 but for bias"."""
    left_out = ", ".join(decay.get("exclude", []))
    return str(decay.get("lambda", 0)) + (f" but for {left_out}" if left_out else "")


def compare_options(capture, window):
    """A case states each option once: the value at the first recorded step."""
    now, segment = capture.reads.stated(), capture.segment
    segment.options = now if segment.options is None else segment.options
    for name, value in segment.options.items():
        if now[name] != value:
            capture.report.problem(f"optimizer, {name} at the step of window {window}", f"{value!r}, then "
                                   f"{now[name]!r}", "one value", "pass cycle_momentum=False to the schedule, or record "
                                   "the windows apart (windows=1, every=1)")
    decay = capture.reads.decay()
    if decay != capture.decay:
        capture.report.problem(f"optimizer, weight_decay at the step of window {window}", f"{in_words(capture.decay)}, then "
                               f"{in_words(decay)}", "one value", "record the windows apart (windows=1, every=1)")
    for place, *rest in capture.members.differences():
        capture.report.problem(f"window {window}, {place}", *rest)
