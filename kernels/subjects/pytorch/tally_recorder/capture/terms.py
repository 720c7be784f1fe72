"""Terms of a loss: those that the user declares, those that were seen, with what their items weighed, and those that were computed
without gradients."""
from fractions import Fraction

import torch

from ..report import ITEMS, counted
from ..user_code import place_of_call
from .gradients import Followed
from .item_weights import MEANT, MEANT_AT_LOSS, Given, Window, judge_declared, judge_seen, short
from .losses import Way, unit_of
from .optimizers import tensors_in

MOST_LOOKED = 8  # backward passes in which a reduction is looked for, as each is followed to its end
ADDS = {torch.add, torch.sub, torch.rsub, *(getattr(torch.Tensor, name) for name in (
    "add", "sub", "add_", "sub_", "__add__", "__radd__", "__sub__", "__rsub__", "__iadd__", "__isub__"))}


class Declared:
    """One call of `Recorder.items`: what counts, and the gradient that arrived there."""

    def __init__(self, name, coefficient, place, per_item, mask):
        self.name, self.coefficient, self.place, self.node = name, coefficient, place, per_item.grad_fn
        self.mask = torch.ones_like(per_item, dtype=torch.float64) if mask is None else mask.detach().double().expand_as(per_item)
        self.unit, self.factor, self.call = unit_of(per_item.dtype), None, None

    def given(self, operations, unit):
        """What it gave in the micro-batch that ends: an item of weight 2 in the mask counts as two. None where a weight
        is not finite."""
        if not bool(torch.isfinite(self.factor).all()):
            return None
        counts = self.mask != 0
        weights = (self.factor.double()[counts] / self.mask[counts]) if bool(counts.any()) else torch.zeros(1).double()
        rest = self.factor[~counts]
        rows = self.mask.shape[0] if self.mask.dim() > 1 else int(counts.sum())
        found = Given(float(self.mask.sum()), self.mask.numel(), rows, float(weights.min()), float(weights.max()), operations,
                      max(unit, self.unit))
        found.outside = float(rest.abs().max()) if rest.numel() else 0.0
        return found


class Call:
    """One call of a term in a micro-batch. `key` names the term; `given` is None where its weights are not known."""

    def __init__(self, key, title, coefficient, given):
        self.key, self.title, self.coefficient, self.given = key, title, coefficient, given

    def joins(self):
        """All calls of one place are one term, each of a micro-batch, where one backward pass goes through all."""
        if self.key[0] != "declared":
            self.key, self.title = (self.key[0], 0), self.title.partition(" (call ")[0]


def given_of(found, operations, unit):
    """What one call of a loss gave, from the gradient that arrived at its result."""
    counted, factor = found.counted, found.factor
    if counted is None or factor is None or not bool(torch.isfinite(factor).all()) or not counted.over:
        return None
    if counted.reduction == "none":
        weighs = factor[factor != 0].double() if bool((factor != 0).any()) else factor.flatten()[:1].double()
        rows = factor.shape[0] if factor.dim() > 1 else weighs.numel()
        return Given(weighs.numel(), factor.numel(), rows, float(weighs.min()), float(weighs.max()), operations, unit)
    weight = Fraction(float(factor.flatten()[0])) / (1 if counted.reduction == "sum" else Fraction(counted.over))
    return Given(counted.items, counted.size, counted.rows, weight, weight, operations, unit, counted.reduction != "sum")


def added(calls):
    """Calls that read the same logits, as those of a mix of two targets do, as one whose weights are added."""
    found = {}
    for one, given in calls:
        key = (one.name, one.place, id(one.read)) if one.read is not None and given is not None else id(one)
        if key in found:
            kept = found[key][1]
            kept.least, kept.most = kept.least + given.least, kept.most + given.most
        else:
            found[key] = (one, given)
    return list(found.values())


def calls_of(arrived, way):
    """The calls whose gradients arrived in one backward pass."""
    found, at = [], {}
    of_declared = {each.node for each in arrived if isinstance(each, Declared)}
    rest = []
    for each in arrived:
        operations = way.roundings(each.node)
        if isinstance(each, Declared):
            given = each.given(*operations) if operations is not None else None
            each.call = Call(("declared", each.name), f"the term {each.name!r} declared at {each.place}", each.coefficient, given)
            found.append(each.call)
        elif operations is not None and each.node not in of_declared:
            count, unit = operations
            if each.counted is None or each.counted.items:  # what counts nothing sends nothing back
                rest.append((each, given_of(each, count, max(unit, each.unit))))
    for each, given in added(rest):
        number = at[each.place] = at.get(each.place, -1) + 1
        title = f"{each.name} at {each.place}" + (f" (call {number + 1} of a micro-batch)" if number else "")
        each.call = Call((each.place, number), title, None, given)
        found.append(each.call)
    return found


def windows_of(segment, key, configured):
    """The windows of one term, as far as it counts anything there."""
    found = []
    for w, calls in enumerate(segment.calls):
        scale = Fraction(segment.scales.get(w, 1.0))
        given = [call.given.over(scale) for call in calls if call.key == key and call.given.items]
        if given:
            found.append(Window(given, segment.micro_batches(w), configured, found[0] if found else None))
    return found


def judge_terms(segment, meaning, ranks, lines):
    """Judges the terms of a stretch of windows: what is wrong is returned, what is assumed or not judged goes to `lines`."""
    wrong = []
    calls = [call for window in segment.calls for call in window if not segment.loss_is_stated or call.key[0] == "declared"]
    of_term = {}
    for call in calls:
        of_term.setdefault(call.key, []).append(call)
    if ranks:
        lines += ["not judged: a term of the loss: what items weigh over several ranks"] * any(key[0] == "declared" for key in of_term)
        return wrong
    alone = len([key for key in of_term if key[0] != "declared"]) == 1 and not segment.beside
    meant = (MEANT if meaning.divide == "micro_batch" else MEANT_AT_LOSS)[meaning.normalisation or "window_items"]
    for key, held in of_term.items():
        title = held[0].title
        if any(call.given is None for call in held):
            lines.append(f"not judged: a term of the loss: what {title} counts is not known, a weight is not finite, or a "
                         "backward pass went through it twice")
            continue
        windows = windows_of(segment, key, segment.meant[0])
        if not windows:
            continue
        if key[0] == "declared":
            found = judge_declared(title, windows, meant, Fraction(held[0].coefficient), segment.first)
        else:
            found = judge_seen(title, windows, meant, alone, segment.first)
        if found.wrong:
            wrong.append(found.wrong)
        elif key[0] == "declared":
            items = short(sum(window.N for window in windows))
            lines.append(f"{ITEMS}{items} of {items} items of {title} weigh as declared")
        if found.open:
            lines.append(f"not judged: a term of the loss: {found.open}; say what counts: tally_recorder.items(per_item, mask)")
        if found.assumed:
            lines.append(f"assumed: {found.assumed}")
    return wrong


class TermTaps:
    """The part of LossTaps that hears of terms: those that the user declares, and what lies between a backward pass's
    root and all of them."""

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
                f"the term {name!r} declared at {place} has no gradient: it was computed under torch.no_grad, or "
                "detached; compute it with gradients, or take it out of the loss")
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
                    f"not judged: a term of the loss: one that was not declared reaches {counted(beside[0], len(beside) - 1)}; "
                    "declare it, tally_recorder.items(per_item, mask), or pass weight_decay if it is a decay")

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
                report.wrong(f"the term {term.name!r} declared at {term.place} gets no gradient: the loss is computed from another tensor; "
                             "declare the tensor that is summed up")
        self.pending, self.declared = [], []
        return ends


class SilentTerms:
    """Follows what is computed under no_grad from what has a gradient, until it is added to something that has one.
    `heard(place)` is told of a single number that is. What was detached on purpose is not followed."""

    def __init__(self, heard):
        self.heard, self.silent = heard, Followed()

    def called(self, function, arguments, result):
        if not self.silent and torch.is_grad_enabled():
            return
        given = list(tensors_in(arguments))
        silent = [tensor for tensor in given if tensor in self.silent]
        if torch.is_grad_enabled():
            if not silent:
                return
            if isinstance(result, torch.Tensor) and result.requires_grad:
                if function in ADDS and result.dim() == 0 and any(tensor.dim() == 0 for tensor in silent):
                    self.heard(place_of_call())
                return
        elif not silent and not any(tensor.requires_grad for tensor in given):
            return
        for tensor in tensors_in([result]):
            if tensor.is_floating_point() and not tensor.requires_grad:
                self.silent.add(tensor)
