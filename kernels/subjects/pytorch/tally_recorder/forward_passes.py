"""Which forward pass a backward pass belongs to: the one that its loss was called in, not the one that ran last."""


class ForwardPasses:
    """`taps` are those that keep what a forward pass leaves until its backward pass has said which micro-batch it was;
    None among them is passed over."""

    def __init__(self, *taps):
        self.taps = [each for each in taps if each]

    def begin(self, rows, model):
        for each in self.taps:
            each.begin(rows, model)

    def now(self):
        """What has been kept of the pass that runs."""
        return [each.state() for each in self.taps]

    def go_back(self, seen):
        """The backward pass of a loss begins: what comes belongs to the pass that it was called in. A second backward
        pass through it is none of a micro-batch."""
        if seen.result is not None:
            for each, state in zip(self.taps, seen.passes):
                each.resume(state)

    def end(self, segment, prefix):
        for each in self.taps:
            each.end(segment, prefix)
