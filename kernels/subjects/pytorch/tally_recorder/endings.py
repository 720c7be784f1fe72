"""How a recording ends, and which of its windows are whole by then."""
from .guard import told


class Endings:
    """Of a capture."""

    def interrupted(self, kind):
        """The loop ended by an exception."""
        self.backward_ends()
        self.report.say(f"the loop ended early, by {kind.__name__}: windows that were whole by then are judged")
        self.ends_early()

    def broke(self):
        """Something went wrong in the recorder, or stands in the loop that no capture holds: what was whole by then is
        judged."""
        self.open, why = None, told(self.guard.problem)
        self.ends_early()
        if not self.segments:
            return
        window = self.segments[-1].first + len(self.segments[-1].windows)
        self.report.say(f"not judged: what came behind window {window - 1}: {why}")

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
