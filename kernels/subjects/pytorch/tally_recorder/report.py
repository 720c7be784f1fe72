"""What is said of a recorded run: notes, problems that make the capture none, what a verdict does not cover, and the line that
would have a loss judged."""
import collections
import math

import torch

from .user_code import Hooked, caller, held_by, name_in, place_of

THE_LOSS = "the loss"
INTO_PARAMETERS = "and the step takes it into the parameters"
MOST_REDUCTIONS = 32  # the last ones that are kept
PROPOSAL = "to have the loss at"  # how a line begins that proposes a call of `Recorder.items`
ITEMS = "items: "  # how the line of a declared term that was judged begins


def first_of_each(lines):
    """The first line of each kind, and how many more there are."""
    return [first if more == 0 else f"{first} (and {more} more like this)" for first, more in lines.values()]


class Report:
    """Lines of one kind differ in their place alone; the first of them is printed."""

    def __init__(self, meaning):
        self.meaning, self.noted_lines, self.problem_lines, self.wrong_lines = meaning, {}, {}, {}
        self.early = None  # where a step was first taken too early

    @staticmethod
    def add(lines, kind, line):
        first, more = lines.get(kind, (line, -1))
        lines[kind] = first, more + 1

    def problem(self, place, found, expected, next_step):
        self.add(self.problem_lines, (expected, next_step), f"{place}: found {found}, expected {expected}; {next_step}")

    def say_problem(self, line):
        """A problem that is a line already."""
        self.add(self.problem_lines, line, line)

    def divided(self, change):
        """All gradients times one number before the step, which no clip explains."""
        how = f"divided by {change.divisor}" if change.divisor else f"multiplied by {change.factor!r}"
        self.problem_lines["divided"] = (
            f"the gradients before the step: found all of a window {how}, expected a clip or nothing; if the loop "
            'divides once a window, pass divide="window" and normalisation, "mean_of_means" where each loss is a mean, '
            '"window_items" where it is a sum; record without a loss scale by hand or a world size, which no case '
            "states", 0)

    def silent_term(self, place):
        self.say(f"not judged: a term of the loss at {place}: it was computed without gradients (torch.no_grad), so that it "
                 "sends none back; compute it with gradients if it is meant to train the model")

    def stepped_early(self, place, counts):
        """A step was taken before the last micro-batch of a window, whose gradient then goes on. `counts` are the
        micro-batches of the windows that are recorded, up to this step."""
        if self.early is None and len(counts) == 1:
            self.early = (f"{place}: a step was taken before the window's last micro-batch, whose gradient goes into the next window: step "
                          "after the last one, `(i + 1) % K == 0`")
        elif self.early is None:
            self.early = (f"{place}: a step was taken, as at an epoch's end, after which windows restart: pass each window's number "
                          f"of micro-batches, micro_batches={counts[:1]} * {len(counts) - 1} + {counts[-1:]}, and divide each by its own")
        self.noted(place, "a step was taken before the window's last micro-batch")

    def not_cleared(self, window, names, of_some):
        """.grad holds gradients of earlier windows as this one begins."""
        if self.early:
            return self.wrong(self.early)
        self.add(self.wrong_lines, "not cleared", (
            f"window {window} begins with gradients of earlier windows, {names[0]}" + (f" and {len(names) - 1} more" if names[1:] else "")
            + f": clear gradients after every step, optimizer.zero_grad(){' of all parameters' if of_some else ''}; looks like "
            f"{'missing-zero-of-some' if of_some else 'missing-zero-between-windows'}"))

    def wrong(self, line):
        """What the recorder itself found to be wrong, and what to change: no capture shows it to `tally check`."""
        self.wrong_lines[line] = line, 0

    def noted(self, place, did, shown_from="parameters"):
        """A thing the loop did that Tally is to judge; where the level leaves no tap that shows it, a problem."""
        if self.meaning.at(shown_from):
            self.add(self.noted_lines, did, f"{place}: {did}")
        else:
            self.add(self.problem_lines, did, f"{place}: {did}; record at level {shown_from!r}, which shows it to "
                                              "`tally check`")

    def changed_between(self, change, place):
        """What happened to gradients between two micro-batches."""
        if change.kind == "factor":
            self.noted(f"{place}, all gradients times {change.factor!r}",
                       "were changed between two micro-batches, as a clip per micro-batch does", "gradients")
        elif change.kind == "clamp":
            self.noted(f"{place}, all gradients clamped to {change.limit!r}",
                       "were changed between two micro-batches, as a clip per micro-batch does", "gradients")
        elif change.kind == "unexplained":
            self.unexplained(place, change)

    def unexplained(self, place, change):
        self.problem(f"{place}, gradient of {change.place}", "a change that is not an accumulation, clip or scaler",
                     "the bits of the last accumulation",
                     "keep other code from writing to .grad, as with torch.autograd.grad, or record without it")

    def say(self, line):
        self.noted_lines[line] = line, 0

    def say_of_kind(self, kind, line):
        """A note, of whose kind the first counts the others."""
        self.add(self.noted_lines, kind, line)

    def notes(self):
        return first_of_each(self.noted_lines)

    def problems(self):
        return first_of_each(self.problem_lines)

    def wrongs(self):
        return first_of_each(self.wrong_lines)


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
    """(window, micro-batch, what, how), a micro-batch's loss first; windows whose overflow the scaler found are as they
    should be."""
    found = [place for place in segment.not_finite if place[0] < len(segment.windows) and place[0] not in segment.skipped]
    return sorted(found, key=lambda place: (place[0], place[1], place[2] != THE_LOSS))


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
            return [f"{what} is {how}, first in window {segment.first + w}, micro-batch {m}, {INTO_PARAMETERS}: find what leaves the "
                    f"range in the forward or backward pass there, torch.autograd.set_detect_anomaly(True); all that follows is not finite either{at}"]
    return []


class Outside(Hooked):
    """Parameters that are none of those recorded: in no group of the optimizer, or frozen, when the recorder is made."""

    def __init__(self, parameters, optimizer, frozen):
        self.parameters, self.optimizer, self.reached, self.handles = parameters, optimizer, set(), []
        self.frozen = frozen  # when the recorder was made, in a group of the optimizer

    def leave(self, held):
        """Leaves out those that another recorder has."""
        self.parameters = {name: parameter for name, parameter in self.parameters.items() if id(parameter) not in held}

    def attach(self):
        self.handles = [parameter.register_hook(lambda _, name=name: self.reached.add(name))
                        for name, parameter in self.parameters.items()]

    def lines(self):
        """One line for those that no group holds, one for those that a group was given later."""
        held = set(map(id, held_by(self.optimizer)))
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
                         "since; make the recorder after all parameters to be judged are trainable")
        return found


class Reductions:
    """Keeps the calls that reduce a tensor with a gradient to one number, as a loss that is not known does: there the
    user can say what counts."""

    def __init__(self):
        self.found = collections.deque(maxlen=MOST_REDUCTIONS)

    def called(self, function, arguments, result):
        if getattr(function, "__name__", "") not in ("sum", "mean") or not arguments or not isinstance(result, torch.Tensor):
            return
        if result.grad_fn is not None and result.dim() == 0 and isinstance(arguments[0], torch.Tensor) and arguments[0].numel() > 1:
            frame = caller()
            self.found.append((result.grad_fn, place_of(frame), name_in(frame, arguments[0])))

    def line(self, nodes):
        """What to write, for the first of these operations that is such a reduction; None where none is."""
        by_node = {node: (place, name) for node, place, name in self.found}
        place, name = next((by_node[node] for node in nodes if node in by_node), (None, None))
        return place and (f"{PROPOSAL} {place} judged, say what counts: tally_recorder.items({name or 'per_item'}, mask), where "
                          f"{name or 'per_item'} holds the losses that it adds up there and mask those that count")
