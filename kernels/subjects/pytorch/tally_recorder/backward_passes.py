"""Which backward passes are a window."""
from .changes import is_zero, same
from .places import place_of_call


class BackwardPasses:
    """Of a capture."""

    def grad_begins(self):
        """torch.autograd.grad hands gradients to the loop, and accumulates none."""
        self.differentiating += 1
        self.taken = place_of_call()

    def grad_ends(self):
        self.differentiating -= 1

    def a_window_begins(self):
        """Behind the last micro-batch that a window is meant to have. Where no step followed, the window goes on, unless its
        gradients were cleared: then the loop left it out."""
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
        self.steps = 1  # of the window that is the last one now
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
        """More backward passes than micro-batches: those of one micro-batch are called from places of their own. Where such
        passes were counted as micro-batches, the places take turns."""
        places, segment, passes = {way: self.ways.count(way) for way in self.ways}, self.segment, len(self.ways)
        turns = len(places)
        if passes == size and 1 < turns < size and size % turns == 0 and self.ways == self.ways[:turns] * (size // turns):
            segment.meant[-1] = size // turns
        elif passes > size and set(places.values()) != {size}:
            return self.report.problem(f"window {window}", f"no step in {size} micro-batches, and one behind {passes}", "one behind each "
                                       "window", "pass micro_batches as the loop is meant, in backward passes")
        elif passes <= size:
            return None
        segment.why_opaque = f"each micro-batch has {turns} backward passes"
        return self.report.say(
            f"look at the backward passes: a window calls backward at "
            f"{' and at '.join(sorted(f'{way[0][0]}:{way[0][1]}' for way in places))}, {passes // turns} times each, so that each "
            f"micro-batch has {turns}; where one is for another optimizer's step its gradients are in this one's as well: record both, "
            "Recorder([model, …], [optimizer, …], …)")
