"""Hears what the loop does and keeps it: one tap an event, under the window that the loop is meant to be in."""
import torch

from ..report import THE_LOSS, Report, note_finite
from ..user_code import CaptureError, Guard, Places, unseen, way_of_call
from .accumulation import Buffers, Change, same
from .gradients import GradientWrites, Norms
from .parameters import Frozen, SeesStaleCasts, Views, changed_behind, compare_options, compare_parameters
from .rank_taps import taps_of
from .steps import Moves
from .steps_again import StepsAgain
from .windows import BackwardPasses, Endings, PassedOver, Stretches


def inside_backward(found):
    return CaptureError(f"the loop: found {found}, as hooks that step do, expected a backward pass that leaves its gradients "
                        "and a step after it; vary such a loop (tally_recorder.vary)")


class Capture(BackwardPasses, Buffers, Endings, Moves, PassedOver, Stretches):
    """`parameters` by name, `reads` the optimizer, `meaning` what was said, `plan` which windows are wanted, `samples`
    which elements are kept."""

    def __init__(self, parameters, reads, meaning, scratch, plan, samples, described, ranks=None):
        self.parameters, self.reads, self.meaning, self.scratch, self.plan = parameters, reads, meaning, scratch, plan
        self.samples, self.views, self.segments = samples, Views(parameters, reads, samples, described.turned), []
        self.frozen = Frozen(described.frozen, self.views)  # parameters that layers have and the optimizer does not
        self.report = Report(meaning)
        self.steps_again = StepsAgain(reads, self.report)  # those that no case states
        self.reads_parameters = described.wants_input  # whether the case's forward pass does, so that a window needs the last update
        self.count, self.steps, self.skips, self.left_out = 0, 0, 0, 0
        self.stepped = None   # the last step of the stretch: its window's prefix and number
        self.waits, self.count_at_step, self.other_stepped, self.passed_for = False, 0, None, None
        self.said_before, self.takes_steps, self.numbers_at_steps = ({}, {}), False, []
        self.segment = None   # the one that is being recorded
        self.losses = self.members = None  # what sees the losses, and which parameters there are; set when made
        self.open = None      # the micro-batch whose backward pass runs: its tap prefix
        self.latest = {}      # each buffer as last seen
        self.roots = []       # the values that this backward pass begins with
        self.touched = set()  # parameters that this backward pass has reached
        self.after_last = self.unscaled = False
        self.norms = Norms(self)
        self.stale_casts = SeesStaleCasts(parameters)
        self.guard, self.places = Guard(), Places()  # all calls from the loop go through them
        self.moves = {}       # those of schedules since the last step
        self.others = []      # captures of the loop's other optimizers, which are told of a step
        self.sums = taps_of(ranks, self)
        self.given = None     # the gradient that was tapped last: of the parameter that is accumulated next
        self.writes = GradientWrites(parameters.values(), self.is_late)
        self.differentiating, self.taken = 0, None  # inside of torch.autograd.grad; where it was called since the last step
        self.way, self.ways, self.took_step = None, [], True  # where the window's backward passes were called; whether a step followed
        self.elsewhere = False  # whether the window's gradients are taken at other weights than the last step left, behind a window without one
        self.since_step, self.clip_began = 0, False  # backward passes since the last step; whether a clip followed the last

    # Backward passes

    @unseen
    def backward_begins(self, roots):
        self.places.saw("backward")
        self.way, self.roots = way_of_call(), [root.detach() for root in roots]
        self.losses.backward_begins(roots)

    def recording_next(self):
        """Whether the next micro-batch is one to be recorded."""
        return self.plan.segment_of(self.meaning.place(self.count)[0])[1]

    def micro_batch_begins(self):
        self.touched = set()
        self.take_back()
        begins = self.a_window_begins()
        window, m, _ = self.meaning.place(self.count)
        self.open = f"w{window}/m{m}"
        if begins:
            self.window_begins(window)
        self.ways.append(self.way)
        if self.segment is None:
            return
        if begins:
            self.segment.begin_window(self.meaning.place(self.count)[2])
        elif self.reads.rate() != self.segment.rates[-1]:
            self.segment.rate_moved_inside = True
        self.look_at_buffers(window, 0 if begins else m)
        self.segment.rates_passed.append(self.reads.rate())

    def window_begins(self, window):
        self.window_ends()
        self.said_before = dict(self.report.noted_lines), dict(self.report.problem_lines)
        self.ways, self.took_step = [], False
        first, wanted = self.plan.segment_of(window)
        if not wanted:
            self.segment = None
            return
        self.stretch_for(window, first == window)
        self.segment.rates.append(self.reads.rate())
        self.frozen.look(self.segment, self.report, window)
        compare_parameters(self, window)
        self.steps = self.skips = 0
        self.unscaled, self.norms.found = False, []

    @unseen
    def gradient(self, name, value):
        """One parameter's gradient in a backward pass, before it is added to the buffer."""
        if self.differentiating:
            return
        if self.open is None:
            self.micro_batch_begins()
        if name in self.touched:
            self.report.problem(f"{self.open}, gradient of {name}", "two accumulations in one backward pass", "one",
                                "use checkpoints with use_reentrant=False")
        self.touched.add(name)
        if self.segment:
            if value.is_sparse:
                self.segment.sparse.add(name)
            self.segment.touched.add(name)
            self.look_for_alias(name, value)
            value = self.views.part(name, value)
            note_finite(self.segment, len(self.segment.windows[-1]) - 1, f"gradient of {name}", value)
        if self.segment and self.meaning.at("gradients"):
            self.given = self.segment.tap(f"{self.open}/backward/d.{name}", value)

    @unseen
    def accumulated(self, name):
        if self.segment is None or self.open is None:
            return
        gradient = self.views.gradient(name)
        if gradient is None:
            raise inside_backward(f"the gradient of {name} removed as it arrived")
        if self.meaning.at("state"):
            first = self.open.endswith("/m0") and same(self.scratch.tensor(self.given), gradient)  # one copy is enough
            self.latest[name] = self.segment.tap(f"{self.open}/accumulate/buffer.{name}", self.given if first else gradient)
        else:
            self.latest[name] = self.scratch.put(gradient, over=None if self.sums else self.latest.get(name))

    @unseen
    def backward_ends(self):
        """One micro-batch is one backward pass that reached a parameter."""
        if self.open is None:
            return
        for root in self.roots if self.segment else ():
            note_finite(self.segment, len(self.segment.windows[-1]) - 1, THE_LOSS, root)
        self.roots = []
        if self.segment:
            self.segment.windows[-1][-1] = self.losses.micro_batch_ends(self.segment, self.open)
            for name in self.parameters:
                if name not in self.touched and name in self.latest and self.meaning.at("state"):
                    self.segment.tap(f"{self.open}/accumulate/buffer.{name}", self.latest[name])
            self.sums.backward_ends(self.open)
            self.writes.last = None
            _, m, size = self.meaning.place(self.count)
            if self.samples.places and m + 1 == size:
                self.segment.sums[len(self.segment.windows) - 1] = self.views.sum_of_squares()
        self.last, self.open, self.way = self.open, None, None
        self.count += 1
        self.waits = True
        self.since_step += 1
        self.after_last = self.clip_began = False

    # Steps

    def is_late(self):
        """Whether a step of the window that is recorded was taken, and no gradient has come since."""
        return self.recording_step() and self.steps > 0 and not self.since_step and self.taken is None and self.open is None

    def recording_step(self):
        """Whether a step now belongs to a window that is recorded."""
        return self.segment is not None and bool(self.segment.windows)

    @unseen
    def step_begins(self):
        self.places.saw("step")
        self.skipping = self.reads.skips_itself()
        self.inside = self.open is not None  # as a hook of each parameter steps: then the pass is for its neighbours as well
        if self.inside:
            self.steps_inside_backward()
        if self.taken and not self.since_step:
            self.given_by_hand()
        self.took_step, self.since_step, self.taken = True, 0, None
        moves, self.moves = self.moves, {}
        if not self.recording_step() or self.skipping:
            return
        self.sums.look("the step")
        window, m, size = self.meaning.place(self.count - 1)
        self.look_at_schedules(moves, window, m + 1)
        self.early = f"window {window}, after micro-batch {m} of {size}" if m + 1 < size and self.count else None
        if self.early and self.elsewhere:
            self.report.add(self.report.wrong_lines, "second pass", (
                f"window {window}: the gradients of its step were taken at other weights than the step before it left, as in the second "
                f"pass of SAM, from {m + 1} of {size} micro-batches; run that pass over all {size}"))
        if self.losses.step_begins(self.early, window, m, size) or self.early and self.elsewhere:
            self.count += size - (m + 1)
            self.early = None
        self.elsewhere = False
        self.look_at_ways(window, size)
        w, segment, change = self.window_prefix(), self.segment, Change()
        segment.rates_at_steps.setdefault(len(segment.windows) - 1, self.reads.rate())
        segment.rate_at_last_step = self.reads.rate()
        segment.rate_moved_inside |= self.early is not None and self.reads.rate() != segment.rates[-1]
        if self.reads.rate() != segment.rates[-1] and segment.rate_moved_inside:
            self.report.noted(f"window {window}, rate {segment.rates[-1]!r} to {self.reads.rate()!r}",
                              "the rate moved after the window began and before its step")
        compare_options(self, window)
        read = "unscale/in.buffer" if self.reads.divides_itself() else "@read"
        for name in self.parameters:
            before = self.scratch.tensor(self.latest[name]) if name in self.latest else None
            gradient = self.views.gradient(name)
            change.offer(name, before, gradient)
            if gradient is None:
                segment.without.setdefault(name, f"window {window}")
            if self.keeps_gradients():
                if gradient is not None:
                    gradient = gradient.float() if read == "@read" else gradient
                    if segment.tap_first(f"{w}/{read}.{name}", gradient) and self.steps:
                        segment.tap(f"{w}/@left.{name}", gradient)
            if self.meaning.at("window") and segment.without_update is None:
                segment.tap_first(f"{w}/@in.{name}", self.views.value(name))
                for state, value in self.views.state(name).items():
                    segment.tap_first(f"{w}/optimizer/in.{state}.{name}", value)
        if change.kind == "unexplained" and self.meaning.clip is None and self.meaning.divide == "micro_batch":
            if change.divisor:
                self.report.divided(change)
            elif self.stands_alone() and self.puts_what_is_read(window, w):
                change = Change()
            else:
                self.report.unexplained(f"window {window}, before the step", change)
        change.window = len(segment.windows) - 1
        self.buffers_are_final()
        self.norms.tap(w)
        segment.changes.append(change)
        self.before_step = self.reads.steps_taken(segment.steps_so_far)
        segment.tap_number(f"{w}/optimizer/in.learning_rate", self.reads.rate(), torch.float32)
        segment.tap_number(f"{w}/optimizer/in.step", self.before_step, torch.int64)
        if segment.without_update is not None:
            changed_behind(self)
            self.steps_again.begins(segment.first)

    def steps_inside_backward(self):
        """A hook steps once the gradients of all parameters of the optimizer have arrived: they are the micro-batch."""
        late = [name for name in self.segment.touched if name not in self.touched] if self.segment else []
        if late or self.sums:
            raise inside_backward(f"a step inside of backward() before the gradient of {late[0] if late else 'all ranks'} had arrived")
        for name in self.touched:
            self.accumulated(name)
        self.backward_ends()

    @unseen
    def step_ends(self):
        self.stale_casts.step_ends()
        self.waits, self.count_at_step, self.other_stepped, self.takes_steps = False, self.count, None, True
        for tell in [] if self.inside else self.others:
            tell()
        if not self.recording_step() or self.skipping:
            return
        w, segment = self.window_prefix(), self.segment
        if segment.without_update is not None:
            self.steps_again.ends(segment.first, self.meaning.place(self.count - 1)[0])
        self.stepped = w, self.meaning.place(self.count - 1)[0]
        self.steps += 1
        self.after_last = True
        segment.steps_so_far += 1
        for name in self.parameters:
            segment.tap(f"{w}/optimizer/{name}", self.views.value(name))
            if self.meaning.at("state"):
                for state, value in self.views.state(name).items():
                    segment.tap(f"{w}/optimizer/{state}.{name}", value)
        if self.early:
            self.report.stepped_early(self.early, [len(window) for window in segment.windows])
        segment.tap_number(f"{w}/schedule/in.step", self.before_step, torch.int64)
        segment.tap_number(f"{w}/schedule/in.found", 0, torch.uint8)
        segment.tap_number(f"{w}/schedule/step", self.reads.steps_taken(segment.steps_so_far), torch.int64, True)
        segment.tap_number(f"{w}/schedule/learning_rate", self.reads.rate(), torch.float32, True)

    def window_ends(self):
        if self.segment is not None and self.segment.windows and self.skips and not self.steps:
            self.segment.skipped.add(len(self.segment.windows) - 1)
        if self.segment is not None and self.segment.windows and not self.steps and not self.skips:
            window = self.segment.first + len(self.segment.windows) - 1
            self.report.problem(f"window {window}", f"no step in {len(self.segment.windows[-1])} micro-batches", "one",
                                "pass micro_batches as the loop is meant, or record a loop that steps; if another optimizer took "
                                "the step, record both: Recorder([model, …], [optimizer, …], …)")
