"""Whether a loop that is cut into other micro-batches comes to the parameters of the whole batch.

The reference is the loop itself, the whole batch at once in float64. A partition P is run in float64 and in float32; d64
and d32 are how far each ends from it. Rounding shrinks with the format, d64 / d32 is near 2^-29, the ratio of their units;
a gap in meaning does not, the ratio is near 1. Between them lie 29 powers of 2, of which the rule takes the middle, so
that either may be off by 2^14.5. What float32 itself would show, were the loop right to the last bit, is measured: a
second whole run in float64 whose parameters and rows are moved by half an ulp of float32, at random (d_in). Where d32
is smaller than that it counts as that. A gap that is gone once all is moved so is a decision that rounding turned."""
import math
from dataclasses import dataclass, field

import torch

from ..errors import CaptureError
from .rows import count_of, dealt, partitions_of, smaller
from .runs import Loop, distance
from .weights import flat, solved, told

UNIT_64, UNIT_32 = 2.0**-53, 2.0**-24
ROUNDING = UNIT_64 / UNIT_32
BOUNDARY = math.sqrt(ROUNDING)


class VaryFailed(AssertionError):
    """What a test that varies its loop raises."""


@dataclass
class Gap:
    """One partition against the whole batch."""
    sizes: tuple
    in_float64: float
    in_float32: float
    tensor: str
    kind: str = "rounding"  # or "meaning", "decision"

    def share(self):
        return self.in_float64 / self.in_float32 if self.in_float32 else 0.0


@dataclass
class Verdict:
    """`partition` is the smallest that fails, `drift` the largest d32 of those that pass."""
    passed: bool
    cause: str
    sentence: str
    partition: tuple
    drift: float
    gaps: list = field(default_factory=list)
    weights: list = field(default_factory=list)

    def raise_if_failed(self):
        if not self.passed:
            raise VaryFailed(self.sentence)


def moved_by_half_ulps(seed):
    """Moves a tensor by up to half an ulp of float32, relative to each element."""
    generator = torch.Generator().manual_seed(seed)

    def moved(value):
        draw = torch.rand(value.shape, generator=generator, dtype=torch.float64) * 2 - 1
        return value * (1 + UNIT_32 * draw).to(value.dtype)
    return moved


class Varied:
    """The runs of one loop; each is made once."""

    def __init__(self, loop, rows, windows):
        self.loop, self.rows, self.windows = loop, rows, windows
        for window in range(windows):
            found = count_of(loop.rows(window, torch.float64))
            if found != rows:
                raise CaptureError(f"vary: found {found or 'no'} rows in data({window}), expected {rows} in the first extent "
                                   "of every tensor; pass rows=, or give the rows of one window")
        self.whole = loop.run(windows, None, torch.float64)
        if math.isnan(distance(self.whole, self.whole)[0]):
            raise CaptureError("vary: found elements that are not finite behind the whole batch in float64, expected finite "
                               "ones; give rows and a rate at which the loop trains")
        again = loop.run(windows, None, torch.float64)
        if distance(self.whole, again)[0] != 0:
            raise CaptureError("vary: found another end of the same whole batch from the same seed, expected the same; make "
                               "all that the loop keeps in `make`, and draw from torch's generator")
        before = loop.run(0, None, torch.float64)
        if distance(self.whole, before)[0] == 0:
            raise CaptureError(f"vary: found no tensor of `make` that {windows} windows change, expected a step that trains; "
                               "return the models and optimizers of the loop from `make`")
        self.moved_whole = loop.run(windows, None, torch.float64, moved_by_half_ulps(1))
        self.of_inputs = distance(self.moved_whole, self.whole)[0]

    def gap(self, sizes):
        d64, whose = distance(self.loop.run(self.windows, sizes, torch.float64), self.whole)
        d32, whose32 = distance(self.loop.run(self.windows, sizes, torch.float32), self.whole)
        gap = Gap(sizes, d64, max(d32, self.of_inputs), whose or whose32)
        if math.isnan(d64 + d32):
            gap.kind = "not finite"
        elif not d64 <= BOUNDARY * gap.in_float32:
            moved = self.loop.run(self.windows, sizes, torch.float64, moved_by_half_ulps(1))
            gone = distance(moved, self.moved_whole)[0] <= BOUNDARY * gap.in_float32
            gap.kind = "decision" if gone else "meaning"
        return gap

    def shrunk(self, gap):
        """The coarsest partition that still fails."""
        while True:
            found = next((less for less in map(self.gap, smaller(gap.sizes)) if less.kind == gap.kind), None)
            if found is None:
                return gap
            gap = found

    def weights(self, sizes):
        """The weight of every row of each micro-batch in what the first step was handed, wanted and found, and how much
        of it no weights explain. None where no optimizer's step was seen."""
        _, handed = self.loop.run(1, sizes, torch.float64, watch=True)
        _, wanted = self.loop.run(1, None, torch.float64, watch=True)
        alone, first = [], 0
        for size in sizes:
            rows = self.alone(first, size)
            alone.append(rows)
            first += size
        if not handed or not wanted or any(not each for each in alone):
            return None
        names = sorted(name for name in set(wanted).intersection(handed, *alone) if name)
        if not names or not any(bool(flat(each, names).any()) for each in alone):
            return None
        sums = [flat(each, names) * size for each, size in zip(alone, sizes)]
        found, rest = solved(sums, flat(handed, names))
        meant, unlike = solved(sums, flat(wanted, names))
        return found, rest, meant, unlike

    def alone(self, first, size):
        """What the first step is handed where these rows are the whole window."""
        part = Loop(self.loop.step, self.loop.make, lambda window: dealt(self.loop.data(window), (first, size))[1], self.loop.seed)
        return part.run(1, None, torch.float64, watch=True)[1]




def near(a, b):
    """Equal but for what float64 rounds, by the rule's own middle."""
    return abs(a - b) <= UNIT_64 / BOUNDARY * max(abs(a), abs(b), UNIT_32)


def cause_of(varied, gap):
    """(cause, sentence, weights)."""
    size = ", ".join(map(str, gap.sizes))
    said = f"micro-batches of {size} rows end {gap.in_float64:.2g} from the whole batch in float64 ({gap.tensor})"
    if gap.kind == "not finite":
        return "not finite", f"micro-batches of {size} rows leave {gap.tensor} with elements that are not finite", []
    fitted = varied.weights(gap.sizes)
    if fitted is None:
        return "unknown", f"{said}; no gradient that a step was handed tells how", []
    found, rest, meant, unlike = fitted
    if not max(unlike, rest) <= UNIT_64 / BOUNDARY:
        return ("no sum of the micro-batches", f"{said}: what the first step is handed is no weighted sum of the micro-batches' "
                f"own gradients ({rest:.2g} of it is left over): something is done to each of them, or to some, before they "
                "are added up", found)
    ratios = [a / b for a, b in zip(found, meant)]
    if all(near(ratio, 1) for ratio in ratios):
        return ("behind the first step", f"{said}: the first step is handed what it should be, what follows differs", found)
    rule = told(ratios, gap.sizes, near)
    if rule is None:
        weights, right = (", ".join(f"{value:.4g}" for value in values) for values in (found, meant))
        return "weights", f"{said}: rows of the micro-batches weigh {weights} and should weigh {right}", found
    return rule[0], f"{said}: a row of micro-batch k {rule[1]}", found


def vary(step, *, make, data, rows=8, windows=2, seed=0):
    """Runs `step(state, micro_batches)` on the same rows in several partitions. `make()` builds models and optimizers from
    torch's seed, `data(window)` gives the rows of one window. Says nothing of bugs that all partitions share."""
    varied = Varied(Loop(step, make, data, seed), rows, windows)
    gaps = []
    for sizes in partitions_of(rows, seed):
        gaps.append(varied.gap(sizes))
        if gaps[-1].kind in ("meaning", "not finite"):
            least = varied.shrunk(gaps[-1])
            cause, sentence, weights = cause_of(varied, least)
            return Verdict(False, cause, sentence, least.sizes, 0.0, gaps, weights)
    drift = max(gap.in_float32 for gap in gaps)
    turned = sum(gap.kind == "decision" for gap in gaps)
    said = f"{len(gaps)} partitions of {rows} rows come to the whole batch's parameters; in float32 they end within {drift:.2g}"
    return Verdict(True, "", said + (f"; in {turned} a decision was turned by rounding" if turned else ""), (), drift, gaps)
