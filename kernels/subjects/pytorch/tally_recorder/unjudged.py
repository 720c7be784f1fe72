"""What a verdict does not cover: a loss, parameters that no group of the optimizer holds, and what is not finite."""
import math

import torch

# What is not judged and is no parameter, with the words of the last line.
OTHER = {"not judged: the loss": "", "not judged: forward": "", "not judged: the batch statistics": "batch statistics",
         "not judged: what came behind": "later windows", "not judged: a term of the loss": "a term of the loss",
         "not judged: the optimizer's algorithm": "the optimizer's algorithm", "not judged: the optimizer's step": "the optimizer's step",
         "not judged: what is stated": "what is stated of the optimizer", "not judged: what changes": "what is changed behind a step",
         "not judged: a change of the gradients": "a change of the gradients",
         "not judged: a clip": "a clip", "not judged: a window without a step": "windows without a step"}


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
    if any(line.startswith("not judged: ") and not line.startswith(tuple(OTHER)) for line in lines):
        left_out.append("some parameters")
    left_out += [words for start, words in OTHER.items() if words and any(line.startswith(start) for line in lines)]
    known = {start + line for line in lines for start in ("", "assumed: ")}  # which the program repeats from the trace
    kept = [line for line in said.rstrip().split("\n") if line not in known]
    head, newline, last = "\n".join(kept).rpartition("\n")
    if not last.startswith("pass") or not left_out:
        return head + newline + last
    if last == IN_VAIN or last.endswith(", some tensors"):
        left_out.append("some tensors")
    return f"{head}{newline}pass, but not judged: {', '.join(left_out)}"


def concluded(code, said, lines, wrong, show):
    """Shows what `tally check` said, and what the recorder itself found to be wrong; the code of both."""
    said, wrong = last_line(said, lines), [f"fail: {line}" for line in wrong]
    show("\n".join([said.rpartition("\n")[0] if wrong and code == 0 else said, *wrong]))
    return 1 if wrong and code != 2 else code


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
