"""Where a loss that is not known adds up its items: there the user can say what counts."""
import collections

import torch

from .places import caller, name_in, place_of

MOST = 32  # of the last that are kept
PROPOSAL = "to have the loss at"  # how a line begins that proposes a call of `Recorder.items`


class Reductions:
    """Hears of every call; keeps those that reduce a tensor with a gradient to one number."""

    def __init__(self):
        self.found = collections.deque(maxlen=MOST)

    def called(self, function, arguments, result):
        if getattr(function, "__name__", "") not in ("sum", "mean") or not arguments or not isinstance(result, torch.Tensor):
            return
        if result.grad_fn is not None and result.dim() == 0 and isinstance(arguments[0], torch.Tensor) and arguments[0].numel() > 1:
            frame = caller()
            self.found.append((result.grad_fn, place_of(frame), name_in(frame, arguments[0])))

    def line(self, nodes):
        """What to write, for the first of these operations that is such a reduction; None where none is."""
        by_node = {node: (place, name) for node, place, name in self.found}
        place, name = next((by_node[node] for node in nodes if node in by_node), (None, None))
        return place and (f"{PROPOSAL} {place} judged, say what counts: tally_recorder.items({name or 'per_item'}, mask), where "
                          f"{name or 'per_item'} is what it adds up there and mask which of it counts")
