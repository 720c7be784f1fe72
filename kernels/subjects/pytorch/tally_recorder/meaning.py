"""What the loop is meant to do: the arguments of the recorder, checked, in the words of a case file."""
from .clips import NORMS
from .errors import CaptureError

LEVELS = ("parameters", "gradients", "state", "window", "all")
NORMALISATIONS = ("window_items", "mean_of_means", "mean_of_means_configured", "rank_means", "sum")


def one_of(name, value, allowed):
    if value not in allowed:
        raise CaptureError(f"{name}: found {value!r}, expected one of {', '.join(allowed)}; pass one of these")
    return value


def section(name, value, shorthand):
    """A section of the recipe: a dictionary with its `kind`, `"none"`, or a number that means `shorthand`."""
    if value is None:
        return None
    if value == "none":
        return {"kind": "none"}
    if isinstance(value, dict) and "kind" in value:
        return dict(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and shorthand:
        kind, key = shorthand
        return {"kind": kind, key: float(value)}
    raise CaptureError(f'{name}: found {value!r}, expected "none" or a dictionary with a "kind" as in a case file; '
                       "pass one of these")


def limited(clip):
    """A clip whose kind is known and whose limit is a number above 0."""
    if clip is None or clip["kind"] == "none":
        return clip
    limits = {"global_norm": "max_norm", "value": "max_value"}
    if clip["kind"] not in limits:
        raise CaptureError(f"clip: found the kind {clip['kind']!r}, expected none, global_norm or value; pass one of "
                           "these")
    limit = clip.get(limits[clip["kind"]])
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit < float("inf"):
        raise CaptureError(f"clip: found {limits[clip['kind']]} {limit!r}, expected a finite number above 0; pass the "
                           "limit that is meant, or \"none\"")
    if clip.get("norm", 2) not in NORMS:
        raise CaptureError(f"clip: found the norm {clip['norm']!r}, expected 1, 2 or \"inf\"; a case states no other, "
                           "pass one of these")
    return clip


class Meaning:
    """What was said, and None where nothing was: that is assumed from the run, and printed."""

    def __init__(self, micro_batches, level, normalisation, learning_rate, weight_decay, clip, loss,
                 divide="micro_batch"):
        counts = list(micro_batches) if isinstance(micro_batches, (list, tuple)) else [micro_batches]
        if not counts or not all(type(count) is int and count > 0 for count in counts):
            raise CaptureError(f"micro_batches: found {micro_batches!r}, expected a count of at least 1, or a list of "
                               "them, one a window, that repeats; pass how many micro-batches a step is meant to take")
        self.counts = counts
        self.level = LEVELS.index(one_of("level", level, LEVELS))
        self.normalisation = normalisation
        if normalisation is not None:
            one_of("normalisation", normalisation, NORMALISATIONS)
        self.learning_rate = section("learning_rate", learning_rate, ("constant", "base"))
        self.weight_decay = section("weight_decay", weight_decay, None)
        self.clip = limited(section("clip", clip, ("global_norm", "max_norm")))
        self.loss = bool(loss)
        self.divide = one_of("divide", divide, ("micro_batch", "window"))

    def at(self, level):
        """Whether the level asked for holds what `level` names."""
        return self.level >= LEVELS.index(level)

    def place(self, count):
        """The window of the micro-batch with this number, its place there, and how many the window has."""
        whole = sum(self.counts)
        window, count = len(self.counts) * (count // whole), count % whole
        for size in self.counts:
            if count < size:
                return window, count, size
            window, count = window + 1, count - size
        raise AssertionError("a repeated list of windows covers every micro-batch")

    def first_of(self, window):
        """The number of the window's first micro-batch."""
        rounds, rest = divmod(window, len(self.counts))
        return rounds * sum(self.counts) + sum(self.counts[:rest])
