"""What a verdict does not cover: a loss, parameters that no group of the optimizer holds, and what is not finite."""
import math

import torch

OTHER = tuple(f"not judged: {what}" for what in ("the loss", "forward", "the batch statistics"))  # than parameters


def counted(first, others):
    """A name, and how many there are besides it."""
    return first + (f" (and {others} more)" if others else "")


def note_finite(segment, m, what, value):
    """Remembers a tensor of the micro-batch that runs if not all of it is finite."""
    if math.isfinite(float(value.sum())):
        return  # a finite sum has finite terms; one that is not may have left the range by itself
    if not bool(torch.isfinite(value).all()):
        segment.not_finite.append((len(segment.windows) - 1, m, what))


def not_finite(segment):
    """One line for what is not finite; windows whose overflow the scaler found are as they should be."""
    found = [place for place in segment.not_finite if place[0] < len(segment.windows) and
             place[0] not in segment.skipped]
    if not found:
        return []
    w, m, what = found[0]
    return [f"not finite: {counted(f'window {segment.first + w}, micro-batch {m}, {what}', len(found) - 1)}"]


IN_VAIN = "pass, but some tensors could not be judged"  # of tally check


def last_line(said, lines):
    """What `tally check` said, with a pass that says what else it leaves out."""
    left_out = ["elements outside the sample"] if any(line.startswith("judged by samples") for line in lines) else []
    if any(line.startswith("not judged: the loss beside its factor") for line in lines):
        left_out.append("the loss beside its factor")
    elif any(line.startswith("not judged: the loss") for line in lines):
        left_out.append("the loss and its normalisation")
    if any(line.startswith("not judged: ") and not line.startswith(OTHER) for line in lines):
        left_out.append("some parameters")
    if any(line.startswith("not judged: the batch statistics") for line in lines):
        left_out.append("batch statistics")
    head, newline, last = said.rstrip().rpartition("\n")
    if last not in ("pass", IN_VAIN) or not left_out:
        return said.rstrip()
    if last == IN_VAIN:
        left_out.append("some tensors")
    return f"{head}{newline}pass, but not judged: {', '.join(left_out)}"


class Outside:
    """Parameters of the model that require a gradient and are in no group when the recorder is made."""

    def __init__(self, parameters, optimizer):
        self.parameters, self.optimizer, self.reached, self.handles = parameters, optimizer, set(), []

    def attach(self):
        self.handles = [parameter.register_hook(lambda _, name=name: self.reached.add(name))
                        for name, parameter in self.parameters.items()]

    def remove(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def lines(self):
        """One line for those that no group holds, one for those that a group was given later."""
        held = {id(parameter) for group in self.optimizer.param_groups for parameter in group["params"]}
        late = [name for name, parameter in self.parameters.items() if id(parameter) in held]
        never = [name for name in self.parameters if name not in late]
        reached = [name for name in never if name in self.reached]
        found = []
        if reached:
            found.append(f"not judged: {counted(reached[0], len(reached) - 1)} is in no group of the optimizer and "
                         "receives gradients that no step uses")
        still = [name for name in never if name not in self.reached]
        if still:
            found.append(f"not judged: {counted(still[0], len(still) - 1)} is in no group of the optimizer")
        if late:
            found.append(f"not judged: {counted(late[0], len(late) - 1)} was added to the optimizer after the "
                         "recording began")
        return found
