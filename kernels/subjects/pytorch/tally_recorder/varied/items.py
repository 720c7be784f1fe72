"""How many items of each micro-batch count: tokens that are not masked, labels that are not ignored."""
import contextlib

import torch
import torch.nn.functional as F

from .rows import tensors_of

LOSSES = ("cross_entropy", "nll_loss")
IGNORED = -100


class Items:
    """Counts the labels of each call of a loss inside of it."""

    def __init__(self):
        self.calls, self.places, self.originals = [], [], {}

    def __enter__(self):
        for name in LOSSES:
            self.originals[name] = getattr(F, name)
            setattr(F, name, self.counting(self.originals[name]))
        return self

    def __exit__(self, *_):
        for name, original in self.originals.items():
            setattr(F, name, original)

    def counting(self, original):
        def loss(*args, **options):
            target = args[1] if len(args) > 1 else options.get("target")
            if isinstance(target, torch.Tensor) and not target.is_floating_point():
                ignored = args[4] if len(args) > 4 else options.get("ignore_index", IGNORED)
                weight = args[2] if len(args) > 2 else options.get("weight")
                with contextlib.suppress(RuntimeError):  # a transform of torch.func shows no numbers
                    counted = target[target != ignored]
                    self.calls.append(float(counted.numel() if weight is None else weight.detach()[counted].double().sum()))
                    self.places.append(target.numel())
            return original(*args, **options)
        return loss

    def of(self, rows, spans):
        """A number for each micro-batch, as the losses say it, or a mask among the rows; None where neither does."""
        called = of_round(self.calls, len(spans))
        if called is not None:
            return called
        mask = next((mask for mask in map(mask_of, tensors_of(rows)) if mask is not None and not bool(mask.all())), None)
        return None if mask is None else [int(mask[a:b].sum()) for a, b in spans]


def of_round(calls, count):
    """Where all rounds of so many calls give the same, what one does; None elsewhere."""
    rounds = [calls[first:first + count] for first in range(0, len(calls), count)]
    return rounds[0] if rounds and all(each == rounds[0] for each in rounds) and len(rounds[0]) == count else None


def mask_of(tensor):
    """Which of its items count, of integers beside ignored labels, or of nothing but 0 and 1 in more than one dimension."""
    if not tensor.is_floating_point() and bool((tensor == IGNORED).any()):
        return tensor != IGNORED
    return tensor != 0 if tensor.dim() > 1 and bool(((tensor == 0) | (tensor == 1)).all()) else None
