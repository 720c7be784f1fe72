"""The terms of a loss: those that the user declares, and those that were seen, with what their items weighed."""
from fractions import Fraction

import torch

from .item_weights import MEANT, MEANT_AT_LOSS, Given, Window, declared, seen, short
from .losses import unit_of

ITEMS = "items: "  # how the line of a declared term that was judged begins


class Declared:
    """One call of `Recorder.items`: what counts, and the gradient that arrived there."""

    def __init__(self, name, coefficient, place, per_item, mask):
        self.name, self.coefficient, self.place, self.node = name, coefficient, place, per_item.grad_fn
        self.mask = torch.ones_like(per_item, dtype=torch.float64) if mask is None else mask.detach().double().expand_as(per_item)
        self.unit, self.factor, self.call = unit_of(per_item.dtype), None, None

    def given(self, operations, unit):
        """Of the micro-batch that ends: an item of weight 2 in the mask counts as two. None where a weight is not finite."""
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


def judged(segment, meaning, ranks, lines):
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
            found = declared(title, windows, meant, Fraction(held[0].coefficient), segment.first)
        else:
            found = seen(title, windows, meant, alone, segment.first)
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
