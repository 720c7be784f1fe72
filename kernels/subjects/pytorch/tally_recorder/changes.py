"""What happened to gradients between two moments at which they were seen."""
import math

import torch

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
