"""Where a stretch of windows begins: each has a case and a trace of its own."""
import torch

from .segment import Segment
from .settings import changed_behind, not_stated


class Stretches:
    """Of a capture."""

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
        """`why` its case leaves the updates out; None where it states them."""
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
