"""What every item of a term of the loss weighs in what was sent back, held against what it is meant to weigh, mask / N.

Weights are compared as rational numbers. A weight that was seen differs from the one that is meant by the roundings on
its way: each operation between the root of the backward pass and the term multiplies by a number that was itself rounded
at most twice (a quotient, cast to the format) and rounds the product, three roundings an operation."""
from fractions import Fraction

import torch

from .language_models import IGNORED

ROUNDINGS = 3  # each operation has
# What an item is divided by, by the name of a normalisation.
MEANT = {
    "window_items": lambda k, w: w.N,
    "rank_means": lambda k, w: w.N,
    "mean_of_means": lambda k, w: w.K * k.items,
    "mean_of_means_configured": lambda k, w: w.configured * k.items,
    "sum": lambda k, w: Fraction(1),
}
# The same where gradients are divided once a window, and not the loss.
MEANT_AT_LOSS = {**{name: lambda k, w: Fraction(1) for name in MEANT}, "mean_of_means": lambda k, w: k.items,
                 "mean_of_means_configured": lambda k, w: k.items}
# Mistakes: the name that `tally explain` knows or that says it, what an item is divided by, what that is and what to change.
DIVISORS = (
    ("mean-of-means", lambda k, w: w.K * k.items, "1/(K n_k): each micro-batch's loss is divided by its own {n} items and by "
     "K = {K}; divide its sum by the window's {N}: loss.sum() / {N}"),
    ("token-mean-times-samples", lambda k, w: k.items * w.R / k.rows, "1/n_k times the share of samples: each micro-batch's loss "
     "is divided by its own {n} items and weighed by its {rows} of {R} samples; divide its sum by the window's {N}: "
     "loss.sum() / {N}"),
    ("own-items", lambda k, w: k.items, "1/n_k: each micro-batch's loss is divided by its own {n} items alone; divide its sum by "
     "the window's {N}: loss.sum() / {N}"),
    ("last-window-wrong-divisor", lambda k, w: w.configured * k.items, "1/(K n_k) with K = {configured} where the window has {K}; "
     "divide each sum by the window's {N}: loss.sum() / {N}"),
    ("last-window-wrong-divisor", lambda k, w: w.N * w.configured / w.K, "K / ({configured} N): a window of {K} is divided as "
     "one of {configured}; divide by the window's {N}"),
    ("over-k", lambda k, w: w.K * w.N, "1/(K N): the loss is divided by K = {K} although the window's {N} items count the whole "
     "window; leave one division out"),
    ("divided-twice", lambda k, w: w.K * w.K * k.items, "1/(K K n_k): the mean is divided by K = {K} twice; leave one division "
     "out"),
    ("extra-times-k", lambda k, w: w.N / w.K, "K/N: the loss is multiplied by K = {K} once too often; leave that out"),
    ("denominator-counts-ignored", lambda k, w: w.size, "1/{size}: the divisor counts ignored positions; divide by the window's {N}"),
    ("denominator-counts-ignored", lambda k, w: w.K * k.size, "1/(K {own}): each micro-batch's loss is divided by all of its "
     "own {own} positions, ignored ones too, and by K = {K}; divide its sum by the window's {N}"),
    ("denominator-counts-ignored", lambda k, w: k.size, "1/{own}: each micro-batch's loss is divided by all of its own {own} positions, "
     "ignored ones too; divide its sum by the window's {N}"),
    ("divided-by-another-window", lambda k, w: w.first.N, "1/{N0}: every window is divided by the first one's items; divide by "
     "the window's own {N}"),
    ("divided-by-k-alone", lambda k, w: w.K, "1/K: the sum is divided by K = {K} and by no items; divide it by the window's {N}"),
    ("sum-not-mean", lambda k, w: Fraction(1), "1: nothing divides the sum; divide it by the window's {N}"),
)
BEFORE_SHIFT = "tokens-counted-before-shift"


class Given:
    """What one call of a term gave in one micro-batch: `items` that count of `size` in `rows`, the least and the largest
    weight of one, and the largest of what does not count, `outside`. `operations` were passed on the way, rounding in units
    of `unit`. `mean` says that the call divides by its own items."""
    outside = 0.0

    def __init__(self, items, size, rows, least, most, operations, unit, mean=False):
        self.items, self.size, self.rows = Fraction(items), Fraction(size), Fraction(rows)
        self.least, self.most, self.mean = Fraction(least), Fraction(most), mean
        self.operations, self.unit = operations, Fraction(unit)
        steps = (ROUNDINGS * operations + 1) * self.unit
        self.error = steps / (1 - steps) if steps < 1 else Fraction(1)

    def times(self, divisor):
        """The interval of the weight that was meant, times `divisor`."""
        ends = [end * divisor / (1 + sign * self.error) for end in (self.least, self.most) for sign in (1, -1) if
                self.error < 1 or sign == 1]
        return min(ends), max(ends)

    def over(self, scale):
        """The same where the loss was multiplied by a scale."""
        found = Given(self.items, self.size, self.rows, self.least / scale, self.most / scale, self.operations, self.unit, self.mean)
        found.outside = self.outside
        return found

    def equal(self):
        """Whether all of its items may weigh the same."""
        return self.most / (1 + self.error) <= self.least / (1 - self.error) if self.least >= 0 else \
            self.most / (1 - self.error) <= self.least / (1 + self.error)


class Window:
    """The calls of one term in a window of `micro_batches`."""

    def __init__(self, given, micro_batches, configured, first=None):
        self.given, self.K, self.configured = given, micro_batches, configured
        self.N, self.size, self.R = (sum(getattr(each, name) for each in given) for name in ("items", "size", "rows"))
        self.first = first or self


def common(windows, divisor):
    """The interval of the coefficient that all items of all windows share under a divisor; None where they share none."""
    low = high = None
    for window in windows:
        for given in window.given:
            least, most = given.times(divisor(given, window))
            if most - least > 0 and not given.equal():
                return None
            low, high = least if low is None else max(low, least), most if high is None else min(high, most)
    return None if low is None or low > high else (low, high)


def near(interval, number):
    return interval is not None and interval[0] <= number <= interval[1]


def short(number):
    number = float(number)
    return str(int(number)) if number == int(number) else f"{number:.4g}"


def filled(words, given, window):
    return words.format(n=short(given.items), N=short(window.N), K=window.K, rows=short(given.rows), R=short(window.R),
                        configured=window.configured, size=short(window.size), own=short(given.size), N0=short(window.first.N))


def departing(windows, meant, coefficient):
    """The first place whose items weigh other than they are meant to: window, micro-batch, and what stands there."""
    for w, window in enumerate(windows):
        for m, given in enumerate(window.given):
            if not (near(given.times(meant(given, window)), coefficient) and given.equal()):
                return w, m, given, window
    return None


def simple(interval):
    """The number of fewest digits in an interval."""
    middle = float(interval[0] + interval[1]) / 2
    for digits in range(1, 18):
        short_one = Fraction(f"{middle:.{digits}g}")
        if near(interval, short_one):
            return short_one
    return Fraction(middle)


def named(windows, coefficient=None):
    """The mistake whose divisor explains all weights, with this coefficient or with any: its name, what it says, and the
    coefficient."""
    for name, divisor, words in DIVISORS:
        found = common(windows, divisor)
        if found is not None and (coefficient is None or near(found, coefficient)):
            return name, words, coefficient if coefficient is not None else simple(found)
    return None


class Judged:
    """The verdict on one term: `wrong`, `open` (not judged) or `assumed` is a line, or none of them where it is right."""

    def __init__(self, wrong=None, open_=None, assumed=None):
        self.wrong, self.open, self.assumed = wrong, open_, assumed


def weighs(place, meant, coefficient, first):
    w, m, given, window = place
    wanted = coefficient / meant(given, window)
    span = short(given.least) if given.equal() else f"from {short(given.least)} to {short(given.most)}"
    return f"window {first + w}, micro-batch {m}: each of its {short(given.items)} items weighs {span}, expected {short(wanted)}"


def judge_declared(title, windows, meant, coefficient, first):
    """A term whose items the user has declared: each weighs what was said."""
    place = departing(windows, meant, coefficient)
    for w, window in enumerate(windows):
        for m, given in enumerate(window.given):
            if given.outside:
                return Judged(wrong=f"{title}, window {first + w}, micro-batch {m}: masked items weigh up to "
                                    f"{short(given.outside)}, expected 0; multiply by the mask before the sum")
    if place is None:
        return Judged()
    said = f"{title}, {weighs(place, meant, coefficient, first)}"
    mistake = named(windows, coefficient)
    if mistake:
        return Judged(wrong=f"{said}; looks like {mistake[0]}, {filled(mistake[1], *place[2:])}")
    constant = common(windows, meant)
    if constant is not None:
        number = simple(constant)
        return Judged(wrong=f"{said}; every item weighs {short(number)} times that: pass weight={short(number)} if this is "
                            "the coefficient of the term")
    mistake = named(windows)
    if mistake:
        return Judged(wrong=f"{said}; looks like {mistake[0]} with the coefficient {short(mistake[2])}, "
                            f"{filled(mistake[1], *place[2:])}")
    uneven = any(not given.equal() for window in windows for given in window.given)
    return Judged(wrong=said + ("; its items weigh differently: declare what weighs alike, such as the loss of each sequence, "
                                "or divide their sum by the window's " if uneven else "; divide their sum by the window's ")
                  + short(place[3].N))


def judge_seen(title, windows, meant, alone, first):
    """A term that was seen and of which nothing was said: its coefficient is taken from the run where it is one."""
    if any(not given.equal() for window in windows for given in window.given):
        return Judged(open_=f"{title} weighs its items differently")
    constant = common(windows, meant)
    given, window = windows[0].given[0], windows[0]
    if constant is not None and near(constant, 1):
        return Judged()
    if constant is not None:
        number, undivided = simple(constant), all(each.operations == 0 for each in window.given)
        mistake = named(windows, 1)
        if mistake and undivided and given.mean and window.K > 1:
            place = departing(windows, meant, Fraction(1))
            return Judged(wrong=f"{title}, {weighs(place, meant, Fraction(1), first)}; looks like {mistake[0]}, "
                                f"{filled(mistake[1], given, window)}")
        doubt = f" (or it is {mistake[0]}: {filled(mistake[1], given, window)})" if mistake and alone and given.mean else ""
        return Judged(assumed=f"{title} has the coefficient {short(number)}, as every item of the windows weighs that over its "
                              f"divisor{doubt}")
    mistake = named(windows, 1) or named(windows)
    if mistake:
        place = departing(windows, meant, mistake[2])
        return Judged(wrong=f"{title}, {weighs(place, meant, mistake[2], first)}; looks like {mistake[0]}, "
                            f"{filled(mistake[1], *place[2:])}")
    if all(common([each], meant) is not None for each in windows):
        return Judged(open_=f"{title} has another coefficient in other windows")
    return Judged(open_=f"{title} weighs micro-batches by a number of its own")


def token_lines(named, first):
    """(lines, tokens of a line, labels that count) of a batch of tokens that a model is given; the last is None where
    it is given no labels. None where these are no tokens."""
    if first is None or first.dim() != 2 or first.is_floating_point():
        return None
    labels = named.get("labels")
    is_of_tokens = isinstance(labels, torch.Tensor) and labels.shape == first.shape
    return (*first.shape, int((labels != IGNORED).sum()) if is_of_tokens else None)


def labels_given(lines, rows, scored):
    """The labels of a micro-batch before the shift, whose loss reads so many rows and scores so many of them; None where it
    does not read all of its tokens, or all but each line's last."""
    if lines is None or rows not in (lines[0] * lines[1], lines[0] * (lines[1] - 1)):
        return None
    return lines[2] if lines[2] is not None else scored + lines[0]


def label_totals(counts, scale):
    """(labels that the micro-batches of a window were given, those that are scored) where its loss is divided by the former."""
    if any(given is None for given, _, _ in counts):
        return None
    given, scored = (sum(count[i] for count in counts) for i in (0, 1))
    divided = all(factor > 0 and round(scale / factor) == given for *_, factor in counts)
    return (given, scored) if divided and given != scored else None


def labels_before_shift(segment):
    """One line where every item of every window is divided by the labels that an opaque model was given, of which the
    shift takes each line's first one out; no case states the shift."""
    windows = {}
    for w, *counts in segment.label_counts:
        windows.setdefault(w, []).append(counts)
    found = {w: label_totals(counts, segment.scales.get(w, 1.0)) for w, counts in windows.items()}
    if not found or not all(found.values()):
        return []
    w, (given, scored) = next(iter(found.items()))
    return [f"window {segment.first + w}: labels are counted before the shift, which drops each line's first label: the loss is divided by the "
            f"{given} that the model is given, and {scored} are scored: divide by the window's `(labels[:, 1:] != -100).sum()`, or, where a "
            f"framework counts, as Trainer does, have the collator ignore each line's first label; looks like {BEFORE_SHIFT}"]
