"""Rows of a window, in whatever a loop keeps them, and how they are dealt into micro-batches."""
import copy
import hashlib
from collections.abc import Mapping, MutableMapping

import torch


def tensors_of(rows):
    """All tensors of a structure of mappings, lists and tuples."""
    if isinstance(rows, torch.Tensor):
        yield rows
    elif isinstance(rows, Mapping):
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
    if isinstance(rows, MutableMapping):  # such as the encodings of a tokenizer, which have attributes beside
        changed = copy.copy(rows)
        for key, value in rows.items():
            changed[key] = mapped(value, change)
        return changed
    if isinstance(rows, tuple) and hasattr(rows, "_fields"):
        return type(rows)(*(mapped(value, change) for value in rows))
    if isinstance(rows, (list, tuple)):
        return type(rows)(mapped(value, change) for value in rows)
    return rows


def count_of(rows):
    """How many rows there are: the first extent of every tensor that has one. None where they differ, or there is no tensor."""
    counts = {tensor.shape[0] for tensor in tensors_of(rows) if tensor.dim()}
    return counts.pop() if len(counts) == 1 else None


def not_dealt(rows, count, name=""):
    """What looks like rows and is no tensor, which would stand whole in every micro-batch: an array, or a list as long as there
    are rows. None where nothing does."""
    if isinstance(rows, Mapping):
        return next(filter(None, (not_dealt(value, count, f"'{key}'") for key, value in rows.items())), None)
    if isinstance(rows, (list, tuple)) and any(True for _ in tensors_of(rows)):
        return next(filter(None, (not_dealt(value, count, f"[{i}]") for i, value in enumerate(rows))), None)
    if isinstance(rows, (list, tuple)) and len(rows) == count or not isinstance(rows, torch.Tensor) and hasattr(rows, "__array__"):
        return f"{type(rows).__name__} {name}".strip()
    return None


def spans_of(sizes, rows):
    """(first, last + 1) of the rows of each micro-batch; `sizes` None is the whole at once."""
    spans, first = [], 0
    for size in sizes or [rows]:
        spans.append((first, first + size))
        first += size
    return spans


def dealt(rows, spans):
    """The rows as micro-batches."""
    return [mapped(rows, lambda tensor, a=a, b=b: tensor[a:b] if tensor.dim() else tensor) for a, b in spans]


def hash_of(windows):
    """One hash of the rows of all windows, whatever their order within each."""
    whole = hashlib.sha256()
    for rows in windows:
        tensors = [tensor.detach().cpu().contiguous() for tensor in tensors_of(rows)]
        found = []
        for i in range(count_of(rows) or 0):
            row = hashlib.sha256()
            for tensor in tensors:
                row.update(bytes((tensor[i] if tensor.dim() else tensor).reshape(-1).view(torch.uint8).numpy()) if tensor.numel() else b"")
            found.append(row.digest())
        whole.update(b"".join(sorted(found)) + b"|")
    return whole.hexdigest()
