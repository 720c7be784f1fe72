"""What the losses of torch.nn.functional count: their items, and what a mean divides by."""
import inspect

import torch
import torch.nn.functional as F


def with_a_reduction():
    """The functions that take a `reduction`, by their names, with their signatures."""
    found = {}
    for name in dir(F):
        function = getattr(F, name)
        if name.startswith("_") or not callable(function) or not inspect.isfunction(function):
            continue
        signature = inspect.signature(function)
        if "reduction" in signature.parameters:
            found[function] = signature
    return found


LOSSES = with_a_reduction()
OF_ROWS = {"cosine_embedding_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss", "multi_margin_loss",
           "multilabel_margin_loss", "multilabel_soft_margin_loss"}  # one number for each row
OF_CLASSES = {"cross_entropy", "nll_loss", "linear_cross_entropy"}


def options_of(function, args, kwargs):
    """All arguments by their names."""
    bound = LOSSES[function].bind(*args, **kwargs)
    bound.apply_defaults()
    options = dict(bound.arguments)
    if options.get("size_average") is not None or options.get("reduce") is not None:
        options["reduction"] = torch.nn._reduction.legacy_get_string(options["size_average"], options["reduce"], False)
    return options


class Counted:
    """`items` of a call, `size` of them with those that do not count, `rows` that they come from, and `over`, what a mean
    divides by; how it reduces them."""
    reduction = "mean"

    def __init__(self, items, size, rows, over):
        self.items, self.size, self.rows, self.over = items, size, rows, over


def counted(kind, options):
    """What a call counts."""
    first = next(value for value in options.values() if isinstance(value, torch.Tensor))
    target, rows = options.get("target"), first.shape[0] if first.dim() else 1
    if kind in OF_CLASSES and not target.is_floating_point():
        ignored = options["ignore_index"]
        counts = target != (-100 if ignored is None else ignored)
        if options["weight"] is None:
            items = int(counts.sum())
        else:
            items = float(options["weight"].detach().double()[target[counts]].sum())
        return Counted(items, target.numel(), rows if target.dim() > 1 else items, items)
    if kind == "cross_entropy":
        items = first.numel() // first.shape[1 if first.dim() > 1 else 0]
        return Counted(items, items, items, items)
    if kind == "ctc_loss":
        lengths = options["target_lengths"]
        items = lengths.numel() if isinstance(lengths, torch.Tensor) else len(lengths)
        return Counted(items, items, items, items)
    if kind == "kl_div" and options["reduction"] in ("sum", "batchmean"):
        items = first.numel() // first.shape[-1] if first.dim() else 1
        return Counted(items, items, rows, rows)
    if kind in OF_ROWS:
        return Counted(rows, rows, rows, rows)
    others = [value.shape for value in options.values() if isinstance(value, torch.Tensor) and value is not options.get("weight")
              and value is not options.get("pos_weight")]
    items = torch.Size(torch.broadcast_shapes(*others)).numel()
    return Counted(items, items, rows, items)
