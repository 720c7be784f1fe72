"""Functions of PyTorch that are others while a script runs: dropout is off, and losses say how many items they count."""
import functools

import torch.nn.functional as F

from ..items import IGNORED, LOSSES

NO_DROPOUT = 4  # the place of `dropout_p` in F.scaled_dot_product_attention


class Functions:
    """`counted(items)` is told of each loss of classes. `dropped`: whether there was a dropout to be left out."""

    def __init__(self, counted):
        self.counted, self.dropped = counted, False
        for name in dir(F):
            if name.startswith("dropout") or name.endswith("dropout"):
                setattr(F, name, self.left_out(getattr(F, name)))
        for name in LOSSES:
            setattr(F, name, self.counting(getattr(F, name)))
        if hasattr(F, "scaled_dot_product_attention"):
            F.scaled_dot_product_attention = self.without_dropout(F.scaled_dot_product_attention)

    def left_out(self, original):
        @functools.wraps(original)
        def dropout(input, p=0.5, training=True, inplace=False):  # pylint: disable=unused-argument
            self.dropped = self.dropped or bool(training and p > 0)
            return input
        return dropout

    def without_dropout(self, original):
        @functools.wraps(original)
        def attention(*args, **options):
            if len(args) > NO_DROPOUT and args[NO_DROPOUT] or options.get("dropout_p"):
                self.dropped, args = True, (*args[:NO_DROPOUT], *((0.0,) if len(args) > NO_DROPOUT else ()), *args[NO_DROPOUT + 1:])
                options = {key: 0.0 if key == "dropout_p" else value for key, value in options.items()}
            return original(*args, **options)
        return attention

    def counting(self, original):
        @functools.wraps(original)
        def loss(*args, **options):
            target = args[1] if len(args) > 1 else options.get("target")
            if not target.is_floating_point():
                self.counted(int(target.ne(args[4] if len(args) > 4 else options.get("ignore_index", IGNORED)).sum()))
            return original(*args, **options)
        return loss
