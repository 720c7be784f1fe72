"""Labels that are counted before they are shifted: a window's loss is divided by the labels that the model was given, of which the
shift takes each line's first one out. Of an opaque model no case states the shift, and the recorder finds it."""
import torch

from .token_rows import IGNORED

NAME = "tokens-counted-before-shift"


def lines_of(named, first):
    """(lines, tokens of a line, labels that count) of a batch of tokens that a model is given; of labels None where it is given
    none. None where these are no tokens."""
    if first is None or first.dim() != 2 or first.is_floating_point():
        return None
    labels = named.get("labels")
    is_of_tokens = isinstance(labels, torch.Tensor) and labels.shape == first.shape
    return (*first.shape, int((labels != IGNORED).sum()) if is_of_tokens else None)


def given_to(lines, rows, scored):
    """The labels of a micro-batch before the shift, whose loss reads so many rows and scores so many of them; None where it
    does not read all of its tokens, or all but each line's last."""
    if lines is None or rows not in (lines[0] * lines[1], lines[0] * (lines[1] - 1)):
        return None
    return lines[2] if lines[2] is not None else scored + lines[0]


def totals(counts, scale):
    """(labels that the micro-batches of a window were given, those that are scored) where its loss is divided by the former."""
    if any(given is None for given, _, _ in counts):
        return None
    given, scored = (sum(count[i] for count in counts) for i in (0, 1))
    divided = all(factor > 0 and round(scale / factor) == given for *_, factor in counts)
    return (given, scored) if divided and given != scored else None


def wrong(segment):
    """One line where every item of every window is divided by the labels before the shift, and not by those behind it."""
    windows = {}
    for w, *counts in segment.label_counts:
        windows.setdefault(w, []).append(counts)
    found = {w: totals(counts, segment.scales.get(w, 1.0)) for w, counts in windows.items()}
    if not found or not all(found.values()):
        return []
    w, (given, scored) = next(iter(found.items()))
    return [f"window {segment.first + w}: labels are counted before the shift, which takes each line's first one out: a loss is divided by the "
            f"{given} that the model is given, and {scored} are scored: divide by the window's `(labels[:, 1:] != -100).sum()`, or, where a "
            f"framework counts, as Trainer does, have the collator ignore each line's first label; looks like {NAME}"]
