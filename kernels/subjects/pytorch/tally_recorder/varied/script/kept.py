"""Tensors that a run left and others are held against: a file that is mapped, so that each reads what it compares."""
import json
import math
import os

import torch

from ..executor import can_round, figure, scale_of

ALIGNED = 16  # bytes, as wide as an element can be


def keep(path, tensors):
    """And the scale of each that can be rounded, as runs are held against it."""
    places, end = {}, 0
    with open(path, "wb") as file:
        for name, tensor in tensors.items():
            value = tensor.detach().cpu().contiguous()
            scale = figure(scale_of(value)) if can_round(value) and value.numel() else None
            places[name] = str(value.dtype).rpartition(".")[2], list(value.shape), end, scale
            end += file.write(value.reshape(-1).view(torch.uint8).numpy())
            end += file.write(bytes(-end % ALIGNED))
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump(places, file)


def kept(path):
    """(tensors, scales)."""
    with open(path + ".json", encoding="utf-8") as file:
        places = json.load(file)
    whole = torch.from_file(path, size=os.path.getsize(path), dtype=torch.uint8)
    found = {}
    for name, (dtype, shape, first, _) in places.items():
        dtype = getattr(torch, dtype)
        size = math.prod(shape) * torch.empty(0, dtype=dtype).element_size()
        found[name] = whole[first:first + size].view(dtype).reshape(shape)
    return found, {name: scale for name, (*_, scale) in places.items()}


def remove(path):
    for each in (path, path + ".json"):
        if os.path.exists(each):
            os.remove(each)
