"""Backward passes that reach the recorded optimizer's parameters on the way to another optimizer's step."""


class PassedOver:
    """Of a capture. `waits` says whether there were backward passes since the optimizer's own step, `other_stepped` names
    another that has stepped since the last of them, `passed_for` the last one for which passes were taken back."""

    def other_steps(self, name):
        """Another optimizer of the loop has stepped. The passes before were for it, unless this one steps before the next."""
        if self.waits:
            self.other_stepped = name

    def take_back(self):
        """Before the next backward pass, and at the loop's end: a whole window since the last step of this optimizer was none
        of its own."""
        name, self.other_stepped = self.other_stepped, None
        if name is None or self.meaning.place(self.count_at_step)[1] or self.meaning.place(self.count)[1]:
            return
        self.count, self.waits, self.passed_for, self.took_step = self.count_at_step, False, name, True
        if self.segment is not None and self.segment.windows:
            self.report.noted_lines, self.report.problem_lines = self.said_before
            self.segment.drop_window()
            self.steps = 1  # of the window before, which has ended
            if not self.segment.windows:
                self.segments.remove(self.segment)
                self.segment = None
        self.report.say(f"assumed: backward passes in front of a step of {name} are for that step, where they reach parameters here")
