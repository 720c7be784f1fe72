"""Windows: which of a training are recorded, which backward passes each has, where a stretch of them begins and ends."""
import torch

from ..user_code import CaptureError, in_one_line, place_of_call
from .accumulation import is_zero, same
from .parameters import changed_behind, not_stated
from .segment import Segment


class Plan:
    """Which windows of a training are recorded: `windows` of them from `start` on, and again `every` so many; None
    means all, and once."""

    def __init__(self, windows, start, every):
        for name, value, least in (("windows", windows, 1), ("start", start, 0), ("every", every, windows or 1)):
            if value is not None and (not isinstance(value, int) or value < least):
                raise CaptureError(f"{name}: found {value!r}, expected a whole number of at least {least}; pass one")
        if every is not None and windows is None:
            raise CaptureError("every: found no windows beside it, expected how many to record each time; pass windows")
        self.windows, self.start, self.every = windows, start or 0, every

    def is_over(self, window):
        """Whether neither this window nor a later one is recorded."""
        return self.every is None and self.windows is not None and window >= self.start + self.windows

    def segment_of(self, window):
        """The first window of the stretch that this one is in, and whether it is recorded."""
        past = window - self.start
        if past < 0:
            return None, False
        first = past - past % self.every if self.every else 0
        return self.start + first, self.windows is None or past - first < self.windows


class BackwardPasses:
    """The part of a capture that says which backward passes are a window."""

    def grad_begins(self):
        """torch.autograd.grad hands gradients to the loop, and accumulates none."""
        self.differentiating += 1
        self.taken = place_of_call()

    def grad_ends(self):
        self.differentiating -= 1

    def a_window_begins(self):
        """Whether the next backward pass begins a window. One that took no step goes on, unless its gradients were
        cleared: then the loop left it out."""
        _, m, _ = self.meaning.place(self.count)
        if m or not self.count:
            return not self.count
        if self.took_step or self.skips or self.sums:
            return True
        if self.was_left_out():
            self.leaves_out()
            return True
        self.count -= 1
        return False

    def was_left_out(self):
        """Whether the window took no step, and its gradients are cleared."""
        return not (self.took_step or self.skips or self.sums) and all(is_zero(self.views.gradient(name)) for name in self.parameters)

    def leaves_out(self):
        """The window that ends took no step and cleared its gradients."""
        if self.segment is None or not self.segment.windows:
            return
        window, _, _ = self.meaning.place(self.count - 1)
        self.segment.drop_window()
        self.left_out += 1
        self.steps = 1  # those of the window that is the last one now
        left = self.segment.taps if self.segment.windows else self.segment.tensors
        start = f"{self.window_prefix()}/optimizer/" if self.segment.windows else ""
        self.elsewhere = any(not same(self.scratch.tensor(left[start + name][0]), self.views.value(name).cpu()) for name in self.parameters)
        self.report.add(self.report.noted_lines, "left out", f"not judged: a window without a step: window {window}, as the "
                        "loop cleared its gradients and took none")

    def given_by_hand(self):
        """The loop took gradients from torch.autograd.grad and put them into .grad: one micro-batch, as no more is seen of
        them."""
        window, m, size = self.meaning.place(self.count)
        if m or self.sums:
            return
        self.count += size
        self.window_begins(window)
        if self.segment is None:
            return
        segment = self.segment
        segment.begin_window(size)
        segment.begin_micro_batch()
        self.last, segment.windows[-1][-1] = segment.place(), 1
        for name in self.parameters:
            gradient = self.views.gradient(name)
            if gradient is not None:
                segment.touched.add(name)
                if self.meaning.at("gradients"):
                    segment.tap(f"{self.last}/backward/d.{name}", gradient)
                self.latest[name] = segment.tap(f"{self.last}/accumulate/buffer.{name}", gradient)
        segment.rates_passed.append(self.reads.rate())
        segment.losses.append("no backward pass was seen")
        segment.unweighed = True
        self.report.add(self.report.noted_lines, "by hand", f"not judged: a change of the gradients: window {window}: .grad was filled "
                        f"by the loop, from torch.autograd.grad at {self.taken}: how its micro-batches were added up is not seen")

    def look_at_ways(self, window, size):
        """Finds several backward passes of each micro-batch, which are called from places of their own. Where such
        passes were counted as micro-batches, the places take turns."""
        places, segment, passes = {way: self.ways.count(way) for way in self.ways}, self.segment, len(self.ways)
        turns = len(places)
        if passes == size and 1 < turns < size and size % turns == 0 and self.ways == self.ways[:turns] * (size // turns):
            segment.meant[-1] = size // turns
        elif passes > size and set(places.values()) != {size}:
            return self.report.problem(f"window {window}", f"no step in {size} micro-batches, and one after {passes}", "one after each window",
                                       "pass micro_batches as the loop is meant, in backward passes")
        elif passes <= size:
            return None
        segment.why_opaque = f"each micro-batch has {turns} backward passes"
        return self.report.say(
            f"look at the backward passes: a window calls backward at "
            f"{' and at '.join(sorted(f'{way[0][0]}:{way[0][1]}' for way in places))}, {passes // turns} times each, so that each "
            f"micro-batch has {turns}; where one is for another optimizer's step its gradients are in this one's as well: record both, "
            "Recorder([model, …], [optimizer, …], …)")


class PassedOver:
    """The part of a capture that takes back backward passes which reach its parameters on the way to another
    optimizer's step. `waits` says whether there were backward passes since the optimizer's own step, `other_stepped`
    names another that has stepped since the last of them, `passed_for` the last one for which passes were taken back."""

    def other_steps(self, name):
        """Another optimizer of the loop has stepped. The passes before were for it, unless this one steps before the next."""
        if self.waits:
            self.other_stepped = name

    def take_back(self):
        """Takes back a whole window since the last step of this optimizer, which was another's; called before each
        backward pass, and at the loop's end."""
        name, self.other_stepped = self.other_stepped, None
        if name is None or self.meaning.place(self.count_at_step)[1] or self.meaning.place(self.count)[1]:
            return
        self.count, self.waits, self.passed_for, self.took_step = self.count_at_step, False, name, True
        if self.segment is not None and self.segment.windows:
            self.report.noted_lines, self.report.problem_lines = self.said_before
            self.segment.drop_window()
            self.steps = 1  # those of the window before, which has ended
            if not self.segment.windows:
                self.segments.remove(self.segment)
                self.segment = None
        self.report.say(f"assumed: backward passes before a step of {name} are for that step, where they reach parameters here")


class Endings:
    """The part of a capture that ends it, and says which windows are whole by then."""

    def interrupted(self, kind):
        """The loop ended by an exception."""
        self.backward_ends()
        self.report.say(f"the loop ended early, by {kind.__name__}: only the windows finished before that are judged")
        self.ends_early()

    def broke(self):
        """Something went wrong in the recorder, or stands in the loop that no capture holds: what was whole by then is
        judged."""
        self.open, why = None, in_one_line(self.guard.problem)
        self.ends_early()
        if not self.segments:
            return
        window = self.segments[-1].first + len(self.segments[-1].windows)
        self.report.say(f"not judged: what came after window {window - 1}: {why}")

    def ends_early(self):
        """A window that has not taken its step is left out."""
        if self.segment is None or not self.segment.windows:
            return
        _, m, size = self.meaning.place(self.count - 1)
        if m + 1 < size or not (self.after_last or self.skips):
            self.leave_out_last_window()
        else:
            self.window_ends()

    def leave_out_last_window(self):
        self.segment.drop_window()
        if not self.segment.windows:
            self.segments.remove(self.segment)

    def finish(self):
        """The end of the loop. A last window that is short counts if the loop took its step."""
        self.take_back()
        if self.segment is None or not self.segment.windows:
            return
        _, m, size = self.meaning.place(self.count - 1)
        if m + 1 == size and self.was_left_out():
            self.leaves_out()
            return None if self.segment.windows else self.segments.remove(self.segment)
        if m + 1 < size and not self.after_last and not self.skips:
            self.leave_out_last_window()
            return self.report.say(f"the last window was left out: {m + 1} of {size} micro-batches and no step")
        if m + 1 < size:
            self.report.say(f"assumed: the last window is meant to have {m + 1} micro-batches in place of {size}, "
                            "as the loop took a step there and ended (argument micro_batches, a list)")
        self.window_ends()


class Stretches:
    """The part of a capture that begins stretches of windows, each with a case and a trace of its own."""

    def stretch_for(self, window, is_first):
        """The stretch that a window belongs to: a new one where the plan says so, where no case states the steps from here on,
        or, where forward passes are judged, behind each step that was left out. Ranks have the same stretches, whatever one of
        them changes by itself."""
        left_out = self.segment is not None and self.segment.without_update is not None
        if self.segment is None or is_first or left_out and self.reads_parameters:
            self.stretch_begins(window, self.reads.unstated())
        elif not left_out and (why := not_stated(self.reads, self.segment) or not self.sums and changed_behind(self)):
            self.stretch_begins(window, why)

    def stretch_begins(self, window, why):
        """`why` says why its case leaves the updates out; None where it states them."""
        self.segment = Segment(self.scratch, window)
        self.segments.append(self.segment)
        self.segment.without_update, self.segment.without_update_from = why, window
        self.stepped = None
        self.start_state()

    def window_prefix(self):
        return f"w{len(self.segment.windows) - 1}"

    def keeps_gradients(self):
        """Whether what the step reads is tapped: by the level, or as no update of the case shows it."""
        return self.meaning.at("window") or self.segment.without_update is not None

    def start_state(self):
        segment = self.segment
        for name in self.parameters:
            segment.give(name, self.views.given(name))
            for state, value in self.views.given_state(name).items():
                segment.give(f"{state}.{name}", value)
        segment.step = self.reads.steps_taken(0)
        segment.steps_so_far = segment.step
        if segment.step:
            segment.give("step", torch.tensor(segment.step, dtype=torch.int64))
        self.sums.begins(segment)
