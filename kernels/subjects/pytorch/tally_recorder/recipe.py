"""What the loop is meant to do: the recorder's arguments, checked, in the words of a case file, and the recipe of a case, each
part of which was said or else is assumed from the run, with a line that says so."""
from .capture.gradients import NORMS
from .capture.parameters import moved
from .user_code import CaptureError

LEVELS = ("parameters", "gradients", "state", "window", "all")
NORMALISATIONS = ("window_items", "mean_of_means", "mean_of_means_configured", "rank_means", "sum")
# The step of a case that leaves the updates out: parameters stay where they are.
NO_UPDATE = {"optimizer": {"kind": "sgd"}, "learning_rate": {"kind": "constant", "base": 0.0}, "weight_decay": {"kind": "none"}}
CLIP_EPSILON = 1e-6  # what torch.nn.utils.clip_grad_norm_ adds to the norm
UNCHANGED = "as no call of PyTorch's clips was seen and no gradient changed before its step"
DIVIDED = ("as no call of PyTorch's clips was seen; another clip would not be, as divide=\"window\" means that the "
           "loop changes its gradients")


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


def said_or(meaning, name, assumed, why, lines):
    """What was said of a section, or else what is assumed, with its line."""
    said = getattr(meaning, name)
    if said is not None:
        return said
    lines.append(f"assumed: {name} is {shown(assumed)}, {why} (argument {name})")
    return assumed


def shown(value):
    if not isinstance(value, dict):
        return str(value)
    rest = ", ".join(f"{key} {value[key]!r}" for key in value if key != "kind")
    return value["kind"] + (f" ({rest})" if rest else "")


def shortest(value):
    """The decimal of fewest digits that is `value` up to the roundings of a clip in binary32."""
    for digits in range(1, 9):
        short = float(f"{value:.{digits}g}")
        if abs(short - value) * 2**20 <= value:
            return short
    return value


def limits_of(changes):
    """The limits by norm that would explain each window's factor."""
    return [shortest(change.factor * (change.norm + CLIP_EPSILON)) for change in changes]


def is_a_division(changes):
    """Whether every window's gradients were multiplied by one factor, which no limit of a norm asks for. One window
    alone shows this where the factor is one over a whole number."""
    if not changes or any(change.kind != "factor" for change in changes):
        return False
    if len(changes) == 1:
        return bool(changes[0].divisor)
    return bool(set.intersection(*(set(change.candidates) for change in changes))) and len(set(limits_of(changes))) > 1


def clip_assumed(changes, called, report, why_none=UNCHANGED):
    """The clip that explains every change of the gradients before a step."""
    kinds = {change.kind for change in changes} - {"none"}
    if is_a_division(changes) and (len(changes) > 1 or not called):
        report.divided(changes[0])
        return {"kind": "none"}, "as the gradients are multiplied by one factor in every window"
    if not kinds:
        return (called[0], "as the loop calls it") if len(called) == 1 else ({"kind": "none"}, why_none)
    if kinds == {"factor"} and all(change.factor < 1 for change in changes if change.kind == "factor"):
        if len(called) == 1:
            return called[0], "as the loop calls it"
        limits = sorted(set(limits_of([change for change in changes if change.kind == "factor"])))
        if len(limits) == 1:
            return ({"kind": "global_norm", "max_norm": limits[0]},
                    "as all gradients were multiplied by one factor before the step")
    elif kinds == {"clamp"}:
        limits = sorted({change.limit for change in changes if change.kind == "clamp"})
        if len(limits) == 1:
            return {"kind": "value", "max_value": shortest(limits[0])}, "as all gradients were clamped before the step"
    return {"kind": "none"}, "as nothing explains the change of the gradients"


def require_sums(segment, clip):
    """Refuses samples where the recipe reads all elements and no sums of them were taken."""
    if clip["kind"] == "global_norm" and str(clip.get("norm", 2)) != "2":
        raise CaptureError(f"clip: found the norm {clip['norm']}, expected 2 where elements are sampled; record all of "
                           "them (samples=None)")
    if clip["kind"] != "global_norm" and segment.scale is None:
        return
    missing = [w for w in range(len(segment.windows)) if w not in segment.sums]
    if missing:
        raise CaptureError(f"window {segment.first + missing[0]}: found fewer micro-batches than are meant, expected all "
                           "of them where elements are sampled and all are read, by a clip or a scaler; pass "
                           "micro_batches as a list of what is meant")


def rate_section(rates, first):
    if len(set(rates)) == 1:
        return {"kind": "constant", "base": rates[0]}
    return {"kind": "list", "rates": list(rates), "first": first}


def rates_assumed(segment):
    """The section `learning_rate` that the run shows, and why."""
    passed = segment.rates_of_micro_batches()
    if passed:
        return (rate_section(passed, segment.step), "the learning rates of the schedule, one for each step, as it "
                                                    "moved with every micro-batch")
    why = ("the rates in force at the steps, set after each window's last backward pass"
           if segment.rates_are_of_steps() else "the rates in force when the windows began")
    return rate_section(segment.rates_of_steps(), segment.step), why


def excludes_what_is_there(decay, capture):
    """Refuses words that match nothing, as they would leave out nothing, in silence. A case itself says what known
    layers are."""
    for word in decay.get("exclude", []):
        bias = word == "bias" and any(name.endswith("bias") for name in capture.parameters)
        known = capture.losses.wants_input and word in ("norm", "embedding")
        if not (bias or known or word in capture.parameters):
            raise CaptureError(f"weight_decay: found {word!r} in exclude, which names no parameter, expected 'bias' or "
                               "names of parameters, as an opaque model has no other words; name them: "
                               + ", ".join(list(capture.parameters)[:8]))


def left_out(segment, capture):
    """What is said of updates that the case leaves out."""
    lines = ["assumed: the case has no updates: its learning rate is 0, so that parameters stay as they were"]
    lines += capture.steps_again.lines(segment.first, segment.without_update)
    if segment.rate_moved_inside:
        lines.append("look at lr: it changed between a window's first micro-batch and its step; step the schedule after the optimizer")
    if segment.without_update_from > segment.first:
        lines.append(f"not judged: the optimizer's step in windows {segment.first} to {segment.without_update_from - 1}, as its options "
                     "changed between the beginning of a window and its step; set them before the window's first micro-batch")
    said = [name for name in ("learning_rate", "weight_decay") if getattr(capture.meaning, name) is not None]
    if said:
        lines.append(f"not judged: what is stated of the optimizer ({' and '.join(said)}), as the case leaves its step out")
    return lines


def recipe_of(segment, capture, clips, lines):
    """The five sections. `lines` takes one line for each that is assumed."""
    meaning, reads = capture.meaning, capture.reads
    clip = meaning.clip
    if clip is None:
        changed = [change for segment in capture.segments for change in segment.changes]
        called, unstated = clips.stated([capture.parameters[name] for name in segment.touched])
        looked_at, why_none = (changed, UNCHANGED) if meaning.divide == "micro_batch" else ([], DIVIDED)
        if called and segment.clip_is_inside:
            unstated = "gradients were changed beside it"
        if unstated:
            assumed, why = {"kind": "none"}, "as the loop's is not stated"
            lines.append(f"not judged: a clip ({unstated})")
        else:
            assumed, why = clip_assumed(looked_at, called, capture.report, why_none)
        if capture.samples.places and assumed["kind"] == "global_norm" and assumed not in called:
            assumed, why = {"kind": "none"}, "as a sample does not tell by what norm the gradients were multiplied (argument clip)"
        if assumed["kind"] == "none" and looked_at:
            capture.write_changes(segment)
        clip = said_or(meaning, "clip", assumed, why, lines)
    if capture.samples.places:
        require_sums(segment, clip)
    lines += reads.by_group() + moved(capture.numbers_at_steps)
    if segment.without_update is not None:
        lines += left_out(segment, capture)
        return {**NO_UPDATE, "clip": clip, "loss_scale": segment.scale or {"kind": "none"}}
    options = segment.options if segment.options is not None else reads.stated()
    optimizer = reads.section(options)
    lines.append(f"assumed: optimizer is {shown(optimizer)}, the options in force at the first recorded step")
    decay = said_or(meaning, "weight_decay", options["weight_decay"], f"as {reads.name} does it", lines)
    rate = said_or(meaning, "learning_rate", *rates_assumed(segment), lines=lines)
    excludes_what_is_there(decay, capture)
    if decay["kind"] != "none" and "lambda" not in decay:
        raise CaptureError('weight_decay: found no "lambda", expected one; pass the coefficient that is meant')
    return {"optimizer": optimizer, "learning_rate": rate, "weight_decay": decay, "clip": clip,
            "loss_scale": segment.scale or {"kind": "none"}}
