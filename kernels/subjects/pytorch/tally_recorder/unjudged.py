"""What a verdict does not cover: parameters that no group of the optimizer holds, and what is not finite."""
import math

import torch

LOSS = "the loss"
INTO = "and the step takes it into the parameters"


def counted(first, others):
    """A name, and how many there are besides it."""
    return first + (f" (and {others} more)" if others else "")


def note_finite(segment, m, what, value):
    """Remembers a tensor of the micro-batch that runs if not all of it is finite."""
    if math.isfinite(float(value.sum())):
        return  # a finite sum has finite terms; one that is not may have left the range by itself
    if not bool(torch.isfinite(value).all()):
        segment.not_finite.append((len(segment.windows) - 1, m, what, "NaN" if bool(torch.isnan(value).any()) else "infinite"))


def found_not_finite(segment):
    """(window, micro-batch, what, how), of a micro-batch its loss first; windows whose overflow the scaler found are as they
    should be."""
    found = [place for place in segment.not_finite if place[0] < len(segment.windows) and place[0] not in segment.skipped]
    return sorted(found, key=lambda place: (place[0], place[1], place[2] != LOSS))


def not_finite(segment):
    """One line for what is not finite."""
    found = found_not_finite(segment)
    if not found:
        return []
    w, m, what, _ = found[0]
    return [f"not finite: {counted(f'window {segment.first + w}, micro-batch {m}, {what}', len(found) - 1)}"]


def stepped_into(segment, names, place):
    """One line where a step took into the parameters what is not finite: all behind it is not finite either, whatever computed
    it. `place` is where the loss was called."""
    for w, m, what, how in found_not_finite(segment):
        left = [part for name in names for part in segment.taps.get(f"w{w}/optimizer/{name}", ())]
        if not all(bool(torch.isfinite(segment.scratch.tensor(part)).all()) for part in left):
            at = "\n  at {file}:{line}: {text}".format(**place) if place else ""
            return [f"{what} is {how}, first in window {segment.first + w}, micro-batch {m}, {INTO}: find what leaves the range in the forward "
                    f"or backward pass there, torch.autograd.set_detect_anomaly(True); what lies behind it accuses nothing{at}"]
    return []


class Outside:
    """Parameters that are none of those recorded: in no group of the optimizer, or frozen, when the recorder is made."""

    def __init__(self, parameters, optimizer, frozen):
        self.parameters, self.optimizer, self.reached, self.handles = parameters, optimizer, set(), []
        self.frozen = frozen  # when the recorder was made, in a group of the optimizer

    def leave(self, held):
        """Those that another recorder has."""
        self.parameters = {name: parameter for name, parameter in self.parameters.items() if id(parameter) not in held}

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
        thawed = [name for name, parameter in self.frozen.items() if parameter.requires_grad or parameter.grad is not None]
        if thawed:
            found.append(f"not judged: {counted(thawed[0], len(thawed) - 1)} was frozen when the recorder was made and trains "
                         "since; make the recorder once all train that are to be judged")
        return found
