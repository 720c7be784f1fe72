"""Rows of a window, in whatever a loop keeps them, and the ways to deal them into micro-batches."""
import random

import torch


def tensors_of(rows):
    """All tensors of a structure of dicts, lists and tuples."""
    if isinstance(rows, torch.Tensor):
        yield rows
    elif isinstance(rows, dict):
        for value in rows.values():
            yield from tensors_of(value)
    elif isinstance(rows, (list, tuple)):
        for value in rows:
            yield from tensors_of(value)


def mapped(rows, change):
    """The same structure with other tensors."""
    if isinstance(rows, torch.Tensor):
        return change(rows)
    if isinstance(rows, dict):
        return {key: mapped(value, change) for key, value in rows.items()}
    if isinstance(rows, tuple) and hasattr(rows, "_fields"):
        return type(rows)(*(mapped(value, change) for value in rows))
    if isinstance(rows, (list, tuple)):
        return type(rows)(mapped(value, change) for value in rows)
    return rows


def count_of(rows):
    """How many rows there are: the first extent of every tensor. None where they differ, or there is no tensor."""
    counts = {tensor.shape[0] if tensor.dim() else None for tensor in tensors_of(rows)}
    return counts.pop() if len(counts) == 1 else None


def dealt(rows, sizes):
    """The rows as micro-batches of these sizes, one behind another."""
    cut, first = [], 0
    for size in sizes:
        cut.append(mapped(rows, lambda tensor, a=first, b=first + size: tensor[a:b]))
        first += size
    return cut


def partitions_of(rows, seed):
    """Ways to deal: equal, a short last one, single rows, and two that are drawn; each once, the coarsest first."""
    drawn, found = random.Random(seed), []
    for count in (2, 4):
        if rows % count == 0 and rows > count:
            found.append((rows // count,) * count)
    size = -(-rows // 3)
    found.append((size,) * (rows // size) + ((rows % size,) if rows % size else ()))
    for _ in range(2):
        cuts = sorted(drawn.sample(range(1, rows), min(2, rows - 1)))
        found.append(tuple(b - a for a, b in zip([0, *cuts], [*cuts, rows])))
    found.append((1,) * rows)
    return [sizes for sizes in dict.fromkeys(found) if len(sizes) > 1]


def smaller(sizes):
    """Ways to deal that are nearer to the whole: two neighbours put together."""
    return [sizes[:k] + (sizes[k] + sizes[k + 1],) + sizes[k + 2:] for k in range(len(sizes) - 1) if len(sizes) > 2]
