"""Accumulated gradients: what becomes of them until a step reads them."""
import math

import torch

from ..report import counted
from ..user_code import unseen

BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def same(a, b):
    """Whether two tensors hold the same bits."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    bits = BITS[a.element_size()]
    return torch.equal(a.reshape(-1).view(bits), b.to(a.device).reshape(-1).view(bits))


def is_zero(gradient):
    """Whether a gradient is absent or nothing but zeros."""
    return gradient is None or largest_of(gradient) == 0


def largest_of(value):
    """The largest magnitude, NaN where there is one; 0 of nothing."""
    if not value.numel():
        return 0.0
    least, most = torch.stack(torch.aminmax(value)).tolist()
    return max(-least, most) if least == least else least


def neighbours(ratio, dtype):
    """The numbers of a format nearest to a ratio, the nearest first."""
    near = torch.tensor([ratio], dtype=dtype)
    if not bool(torch.isfinite(near)):
        return []
    bits = near.view(BITS[near.element_size()])
    return [float((bits + by).view(dtype)) for by in (0, -1, 1, -2, 2)]


def factors(before, after):
    """The factors by which every element of `before` was multiplied, with one rounding, to give `after`."""
    place = int(before.abs().argmax())
    largest = float(before.flatten()[place])
    if largest == 0:
        return None
    found = []
    for factor in neighbours(float(after.flatten()[place]) / largest, before.dtype):
        if same(before * torch.tensor(factor, dtype=before.dtype), after):
            found.append(factor)
    return found


def divisor(before, after):
    """The whole number by which every element of `before` was divided to give `after`; None where there is none."""
    place = int(before.abs().argmax())
    largest, now = float(before.flatten()[place]), float(after.flatten()[place])
    whole = round(largest / now) if now and abs(largest / now) < 2.0**31 else 0
    return whole if whole > 1 and same(before / whole, after) else None


class Change:
    """What one place did to the gradients: offer each tensor before and after, then read `kind`."""

    def __init__(self):
        self.candidates, self.place, self.squares, self.changed = None, None, 0.0, False
        self.divisors = set()
        self.clamped, self.limit, self.unclamped = True, None, 0.0
        self.unchanged = []  # what they hold counts once another has changed

    def offer_unchanged(self, value):
        """One tensor that holds the bits of before."""
        if self.changed:
            self.take_unchanged(value)
        else:
            self.unchanged.append(value)

    def take_unchanged(self, value):
        largest = largest_of(value)
        if largest:
            self.candidates = [1.0] if self.candidates is None else [f for f in self.candidates if f == 1]
        self.unclamped = max(self.unclamped, largest)

    def offer(self, name, before, after):
        """One tensor at two moments; either may be None, which means zeros."""
        if before is None and is_zero(after):
            return
        if before is None:
            before = torch.zeros_like(after, device="cpu")
        after = torch.zeros_like(before) if after is None else after.detach().to("cpu")
        if not before.numel():
            return
        if same(before, after):
            return self.offer_unchanged(after)
        for value in self.unchanged:
            self.take_unchanged(value)
        self.unchanged, largest, found = [], largest_of(after), factors(before, after)
        if found is not None:
            self.candidates = found if self.candidates is None else [f for f in self.candidates if f in found]
        self.changed, self.place = True, self.place or name
        self.divisors.add(divisor(before, after))
        self.squares += float(before.double().square().sum())
        if found is None:
            self.candidates = []
        if self.limit not in (None, largest) or not same(before.clamp(-largest, largest), after):
            self.clamped = False
        self.limit = largest

    @property
    def kind(self):
        """`none`, a common `factor`, `clamp` to a largest magnitude, or `unexplained`."""
        if not self.changed:
            self.unchanged = []
            return "none"
        if self.candidates:
            return "factor"
        return "clamp" if self.clamped and self.unclamped <= self.limit else "unexplained"

    @property
    def factor(self):
        return self.candidates[0]

    @property
    def divisor(self):
        """The whole number by which all gradients were divided; None where they were not, or nothing changed."""
        return next(iter(self.divisors)) if len(self.divisors) == 1 and not self.unclamped else None

    @property
    def norm(self):
        """The 2-norm of all gradients that changed, before it."""
        return math.sqrt(self.squares)


class Buffers:
    """The part of a capture that follows the accumulated gradients until a step reads them."""

    def look_at_buffers(self, window, m):
        """Compares the gradients before the first of them moves: they are cleared before a window, and left alone
        inside of it."""
        if m > 0:
            self.sums.look("the next micro-batch", between=True)
        change, taps = Change(), []
        cleared, left = None, []
        for name in self.parameters:
            now = self.views.gradient(name)
            if m == 0:
                if not is_zero(now):
                    left.append(name)
                self.latest.pop(name, None)  # it was of the window before: what .grad holds now is what counts
                handed_over = now is None
            else:
                before = self.scratch.tensor(self.latest[name]) if name in self.latest else None
                now = now if now is not None or before is None else torch.zeros_like(before)
                handed_over = now is None or before is not None and same(before, now)
                if handed_over and now is not None:
                    change.offer_unchanged(now)
                elif is_zero(now) and not is_zero(before):
                    cleared = cleared or name
                else:
                    change.offer(name, before, now)
            if self.meaning.at("window") or m == 0 or not handed_over or self.sums.moved:
                taps.append((name, now, handed_over))
        if change.kind == "unexplained" and not cleared and self.stands_alone():
            self.put_in_place(f"window {window}, before micro-batch {m}")
            change, taps = Change(), []
        self.segment.begin_micro_batch()
        self.open = self.segment.place()
        for name, now, handed_over in taps:
            self.tap_buffer_before(name, now, m)
            if not handed_over:
                self.latest[name] = self.scratch.put(now)
        if left:
            foreign = f", and holds what backward passes for the step of {self.passed_for} left there" if self.passed_for else ""
            self.report.noted(f"window {window}, gradient of {left[0]}", "was not cleared before the first micro-batch" + foreign, "gradients")
            if not foreign and len(self.segment.windows) - 2 not in self.segment.skipped:
                self.report.not_cleared(window, left, len(left) < len(self.parameters))
        if cleared:
            self.report.noted(f"window {window}, micro-batch {m}, gradient of {cleared}",
                              "was cleared before the window's step", "gradients")
        self.report.changed_between(change, f"window {window}, before micro-batch {m}")

    def tap_buffer_before(self, name, value, m):
        """Taps what .grad holds before a micro-batch, unless the buffer behind the last one is not tapped: this would
        hide what happened in between."""
        if value is not None and self.meaning.at("gradients" if m == 0 else "state"):
            self.segment.tap_first(f"{self.open}/accumulate/in.buffer.{name}", value)

    def look_for_alias(self, name, value):
        """What the backward pass hands on must not lie where .grad holds what was accumulated so far."""
        held = self.parameters[name].grad
        if held is not None and not value.is_sparse and value.numel() and held.data_ptr() == value.data_ptr():
            window, m, _ = self.meaning.place(self.count)
            self.report.add(self.report.wrong_lines, "alias", (
                f"window {window}, micro-batch {m}, gradient of {name}: .grad shares its memory with a tensor that this backward "
                "pass returns, such as a static buffer or a view: the sum of the earlier micro-batches is overwritten; return a "
                "clone from that backward"))

    def stands_alone(self):
        """Whether a case can take a change of the gradients as it is, as it can for an opaque model on one rank."""
        return not (self.sums or self.losses.wants_input or self.steps or self.meaning.divide == "window")

    def put_in_place(self, place, scale=1.0):
        """The gradients, divided by a scale before, have been changed by what no case states: what they are now counts from
        here on."""
        segment, values, changed, squares, whole = self.segment, {}, [], 0.0, 0.0
        for name in self.parameters:
            now = self.views.gradient(name)
            kept = self.latest.get(name)
            if kept is None and now is None:
                continue
            before = torch.zeros_like(now).cpu() if kept is None else self.scratch.tensor(kept)
            now = torch.zeros_like(before) if now is None else now.detach().cpu()
            if not same(before, now):
                changed.append(name)
            squares += float((now.double() - before.double()).square().sum())
            whole += float(before.double().square().sum())
            values[name] = before * scale, now * scale
        kept = segment.put_in_place(len(segment.windows) - 1, values)
        self.last = segment.place()
        if scale == 1:  # at levels that keep no buffers the next one is written over this
            self.latest.update(kept if self.meaning.at("state") else {name: self.scratch.put(now) for name, (_, now) in values.items()})
        if len(segment.windows) - 1 in segment.sums:
            segment.sums[len(segment.windows) - 1] = self.views.sum_of_squares() * scale**2
        by = f"{math.sqrt(squares / whole):.2g} of their norm" if whole else "all of it"
        written = f", at {self.writes.last}" if self.writes.last else ""
        segment.changed.append(f"{place}{written}: {counted(changed[0], len(changed) - 1)} by {by}")
        self.writes.last = None

    @unseen
    def clip_begins(self):
        """PyTorch's clip is about to change the gradients, the first one behind the last backward pass."""
        self.places.saw("clip")
        self.sums.look("PyTorch's clip")
        window, m, size = self.meaning.place(self.count - 1)
        first, self.clip_began = not self.clip_began, True
        if not first or self.writes.last is None or m + 1 < size or self.unscaled or not self.stands_alone():
            return
        change = Change()
        for name in self.parameters:
            change.offer(name, self.scratch.tensor(self.latest[name]) if name in self.latest else None, self.views.gradient(name))
        if change.kind == "unexplained" and not change.divisor:
            self.put_in_place(f"before the clip of window {window}")

    def puts_what_is_read(self, window, w):
        """Whether the gradients that the step reads could be put in the place of those that were accumulated."""
        scaled = self.unscaled and not self.reads.divides_itself()
        scale = self.segment.scales[len(self.segment.windows) - 1] if scaled else 1.0
        if math.frexp(scale)[0] != 0.5:
            return False
        self.put_in_place(f"before the step of window {window}", scale)
        self.segment.clip_is_inside |= self.clip_began
        for name in self.parameters if scaled else ():
            gradient = self.views.gradient(name)
            self.segment.taps.pop(f"{w}/overflow_check/in.buffer.{name}", None)
            if gradient is not None and f"{w}/unscale/d.{name}" in self.segment.taps:
                self.segment.tap(f"{w}/unscale/d.{name}", gradient.float())
        return True

    def buffers_are_final(self):
        """Taps the buffer that the step reads, at levels without buffers."""
        if self.meaning.at("state") or self.unscaled or self.sums:
            return
        for name in self.parameters:
            if name in self.latest:
                self.segment.tap(f"{self.last}/accumulate/buffer.{name}", self.latest.pop(name))

    def write_changes(self, segment):
        """Writes the gradients of each window as they were changed by what was taken for a clip and is none."""
        for i, change in enumerate(segment.changes):
            if change.kind not in ("factor", "clamp"):
                continue
            if self.sums or self.losses.wants_input:
                self.report.unexplained(f"window {segment.first + change.window}, before the step", change)
                continue
            values, w = {}, change.window
            last = f"w{w}/m{len(segment.windows[w]) - 1}"
            for name in self.parameters:
                kept = segment.taps.get(f"{last}/accumulate/buffer.{name}")
                if kept is None:
                    continue
                before = self.scratch.tensor(kept[0])
                values[name] = before, before * torch.tensor(change.factor, dtype=before.dtype) if change.kind == "factor" else \
                    before.clamp(-change.limit, change.limit)
            segment.put_in_place(w, values)
            how = f"multiplied by {change.factor!r}" if change.kind == "factor" else f"clamped to {change.limit!r}"
            segment.changed.append(f"before the step of window {segment.first + w}: all gradients {how}")
            segment.changes[i] = Change()
