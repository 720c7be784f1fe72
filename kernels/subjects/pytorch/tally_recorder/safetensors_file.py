"""Writes a safetensors file from what lies in a scratch file, piece by piece."""
import json

import torch

NAMES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64", torch.uint8: "U8"}

WIDTHS = {torch.float32: 4, torch.float16: 2, torch.bfloat16: 2, torch.int64: 8, torch.uint8: 1}


def shape_of(parts):
    """The shape of parts that follow each other along the first dimension."""
    first = parts[0].shape
    return list(first) if len(parts) == 1 else [sum(part.shape[0] for part in parts), *first[1:]]


def write(path, tensors, scratch, metadata):
    """`tensors` gives the parts of each tensor by name. Wide elements come first, so that all are aligned."""
    header, at = {"__metadata__": metadata}, 0
    order = sorted(tensors, key=lambda name: -WIDTHS[tensors[name][0].dtype])
    for name in order:
        parts = tensors[name]
        size = sum(part.size for part in parts)
        header[name] = {"dtype": NAMES[parts[0].dtype], "shape": shape_of(parts), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            for part in tensors[name]:
                scratch.copy(part, file)
