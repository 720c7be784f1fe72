"""Hears of the terms of a loss: those that the user declares, and what lies between a backward pass's root and all of them."""
import torch

from .losses import Way
from .terms import Declared, calls_of
from .unjudged import counted


MOST_LOOKED = 8  # backward passes in which a reduction is looked for, as each is followed to its end


class TermTaps:
    """Of what taps losses."""

    def declare(self, per_item, mask, name, coefficient, place):
        """The user says what counts of a term of the loss."""
        capture = self.capture
        if not (capture.recording_next() and torch.is_grad_enabled()):
            return
        if mask is not None and mask.dim() > per_item.dim() or mask is not None and any(
                own not in (1, whole) for own, whole in zip(reversed(mask.shape), reversed(per_item.shape))):
            return capture.report.say_problem(
                f"items({name!r}) at {place}: found a mask of {list(mask.shape)} beside {list(per_item.shape)} items, expected one "
                "for each item; pass which of them count")
        if not per_item.requires_grad:
            return capture.report.wrong(
                f"the term {name!r} declared at {place} sends nothing back, as it has no gradient: it was computed under "
                "torch.no_grad, or detached; compute it with gradients, or take it out of the loss")
        term = Declared(name, coefficient, place, per_item, mask)
        self.declared.append(term)

        def arrives(gradient):
            if not capture.differentiating:
                term.factor = gradient.detach().clone()
                self.arrived.append(term)
        per_item.register_hook(capture.guard.hook(arrives))

    def backward_begins(self, roots):
        self.arrived, self.term, self.way = [], None, None
        nodes = [each.node for each in [*self.pending, *self.declared]]
        unknown = self.reductions.found and self.looked < MOST_LOOKED and self.capture.meaning.loss
        if not (nodes or unknown) or not self.capture.recording_next():
            return
        self.way = Way(roots, nodes, self.accumulators)
        if unknown and self.way.beside:
            line, self.looked = self.reductions.line(self.way.above), self.looked + 1
            if line is not None:
                self.capture.report.say(line)
                self.looked = MOST_LOOKED
        if not nodes:
            self.way = None
            return
        beside = sorted(self.way.beside)
        if beside and self.capture.meaning.loss:
            self.term = f"a term beside it reaches {len(beside)} parameters"
            if self.decay_is_said():
                window, m, _ = self.capture.meaning.place(self.capture.count)
                self.capture.report.noted(f"window {window}, micro-batch {m}, gradient of {beside[0]}",
                                          "a term beside the loss reaches it, as a penalty in the loss does")
            else:
                self.capture.report.say(
                    f"not judged: a term of the loss: beside what is judged, another reaches {counted(beside[0], len(beside) - 1)}; "
                    "say what counts, tally_recorder.items(per_item, mask), or where it is a decay weight_decay, as it is meant")

    def decay_is_said(self):
        return (self.capture.meaning.weight_decay or {}).get("kind", "none") != "none"

    def weigh(self, segment, arrived):
        """What the items of each term weighed in the backward pass that ends."""
        of_loss = [each for each in arrived if isinstance(each, Declared) or self.capture.meaning.loss and not each.fused]
        for each in of_loss:
            if each.call is not None:  # by an earlier backward pass
                each.call.given = None
        calls = calls_of([each for each in of_loss if each.call is None], self.way) if self.way is not None else []
        segment.calls[-1].extend(calls)
        segment.beside |= self.term is not None
        segment.unweighed |= not calls

    def step_begins(self, early, window, m, size):
        """Whether the window ends with this step although it has fewer backward passes than are meant: all of its forward
        passes went back in one, or one of them in none."""
        forward, backward, reached = self.forward, self.backward, self.reached
        summed = backward and forward // backward > 1 and not forward % backward
        ends, segment, report = False, self.capture.segment, self.capture.report
        if early and forward >= size and summed and (reached >= forward or not reached):
            if backward == 1 and segment.passes[-1] == 1 and not self.wants_input:
                ends = True
                segment.together.add(len(segment.windows) - 1)
                segment.why_opaque = "one backward pass goes through all micro-batches of a window"
                for call in segment.calls[-1]:
                    call.joins()
                report.say(f"assumed: one backward pass goes through all {size} micro-batches of a window, as {forward} forward "
                           "passes ran before it")
            else:
                report.problem(
                    early, f"a step after {'one' if backward == 1 else backward} backward over {forward} forward passes",
                    f"{size} backward passes, as micro_batches counts those", "call backward for each micro-batch, or pass "
                    "as micro_batches how many backward passes a step is meant to take")
        elif early and forward >= size and segment.passes[-1] == m + 1 < size and backward == m + 1:
            ends = True
            report.add(report.noted_lines, "left out", f"window {window}: {size - m - 1} of {size} micro-batches left out (a forward pass "
                       "without a backward pass): where the others are divided by the K of all, they weigh too little; divide by "
                       'what is kept, or pass normalisation="mean_of_means_configured" if that is meant')
        self.forward = self.backward = self.reached = 0
        arrived = {term.name for term in self.declared if term.factor is not None}
        for term in self.declared:
            if backward and term.name not in arrived:
                report.wrong(f"the term {term.name!r} declared at {term.place} sends nothing back: no gradient arrives there, as the loss is "
                             "made of another tensor; declare the one that is summed up")
        self.pending, self.declared = [], []
        return ends
