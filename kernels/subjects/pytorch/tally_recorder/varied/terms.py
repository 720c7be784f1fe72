"""The terms of a loss: what a backward pass begins with is walked up to sums, differences and products with numbers."""
import contextlib
import os
import re

import torch

from .places import frames_of, own_frame, place_of

FUNCTIONS = os.path.join("torch", "nn", "functional.py")
SUMS = ("Add", "Sub", "Rsub")
LINEAR = ("Mul", "Div", "Neg", "ToCopy", "Clone", "Alias", "Squeeze", "Unsqueeze", "View")  # of one that is trained, and a number


def kind_of(node):
    return re.sub(r"Backward\d*$", "", type(node).__name__)


def edges_of(root):
    """(parent, which of its inputs, node) of each term; no parent of a loss that is one."""
    found, open_ones = [], [(None, 0, root)]
    while open_ones:
        edge = open_ones.pop()
        kind, inputs = kind_of(edge[2]), [(i, node) for i, (node, _) in enumerate(edge[2].next_functions) if node is not None]
        if kind in SUMS or kind in LINEAR and len(inputs) == 1:
            open_ones += [(edge[2], i, node) for i, node in reversed(inputs)]
        else:
            found.append(edge)
    return found


def told_of(node):
    """(name of the function, place) as the program called it."""
    if kind_of(node) == "AccumulateGrad":
        return "a parameter", None
    frames = frames_of(node.metadata.get("traceback_", []))
    own = own_frame(frames)
    within = frames[frames.index(own) + 1:] if own else []
    name = next((frame.name for frame in within if frame.filename.endswith(FUNCTIONS)), None)
    return name or re.sub(r"(?<!^)(?=[A-Z][a-z])", "_", kind_of(node)).lower(), place_of(frames)


def terms_of(roots):
    """{key: (name, place, edges)}; those of one name and line are told apart by their order."""
    found, nodes, count = {}, {}, {}
    for edge in (edge for root in roots for edge in edges_of(root)):
        if edge[2] not in nodes:
            name, place = told_of(edge[2])
            key = name, place and (place["file"], place["line"])
            count[key] = count.get(key, -1) + 1
            nodes[edge[2]] = (*key, count[key])
            found[nodes[edge[2]]] = name, place, []
        found[nodes[edge[2]]][2].append(edge)
    return found


def without(index):
    """A hook that lets no gradient pass to this input; None: to none of them."""
    def hook(gradients, _):
        return tuple(torch.zeros_like(gradient) if gradient is not None and index in (None, i) else gradient
                     for i, gradient in enumerate(gradients))
    return hook


@contextlib.contextmanager
def only(terms, key):
    """A backward pass inside of it is of this term alone."""
    handles = [node.register_hook(without(None)) if parent is None else parent.register_hook(without(i))
               for other, (_, _, edges) in terms.items() if other != key for parent, i, node in edges]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
