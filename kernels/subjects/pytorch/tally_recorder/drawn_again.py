"""Which elements a dropout kept: what it drew is drawn once more, from the state that the generators had before it, and
the run goes on as if that had never been."""
import contextlib

import torch

from .errors import CaptureError

INSTEAD = "record the model as opaque, or without this dropout (p = 0)"


def state_of(device):
    """Of the generators that an operation on this device draws from."""
    own = [] if device.type == "cpu" else [getattr(torch, device.type).get_rng_state(device)]
    return [torch.get_rng_state(), *own]


def restore(state, device):
    torch.set_rng_state(state[0])
    for own in state[1:]:
        getattr(torch, device.type).set_rng_state(own, device)


def are_alike(state, other):
    return all(torch.equal(one, two) for one, two in zip(state, other))


@contextlib.contextmanager
def drawn_again(before, device):
    """Inside of it all is drawn as it was from `before` on until now; raises where it was not. What is saved there for
    a backward pass is none of a checkpoint's."""
    now = state_of(device)
    restore(before, device)
    try:
        with torch._C.DisableTorchFunction(), torch.autograd.graph.saved_tensors_hooks(lambda kept: kept,
                                                                                       lambda kept: kept):
            yield
        drawn = state_of(device)
    finally:
        restore(now, device)
    if not are_alike(drawn, now):
        raise CaptureError("found a dropout that draws other numbers when it is run again, expected the same from the "
                           f"same state of PyTorch's generators; {INSTEAD}")


def like(tensor, value):
    """One of the same kind that is full of `value`, for operations that choose how to draw by what they are given."""
    return torch.full_like(tensor.detach(), value)


def asking(tensor, original):
    return tensor.requires_grad_(original.requires_grad and torch.is_grad_enabled())


def mask_of_module(module, before, x, y):
    """What a module kept of `x` where it left `y`: bool, of their shape. `before` is the generators' state before it.
    What it keeps of ones says it also where x is 0."""
    with drawn_again(before, x.device), torch.no_grad():
        mask = module.forward(like(x, 1)) != 0
    x, y = x.detach(), y.detach()
    told = torch.isfinite(x) & (x != 0)
    if mask.shape != y.shape or not torch.equal((y != 0) & told, mask & told):
        raise CaptureError("found a dropout that drops other elements when it is run again, expected the same from the "
                           f"same state of PyTorch's generators; {INSTEAD}")
    return mask


def mask_of_attention(call, before, query, key, value):
    """Which weights a call of an attention kept: bool [batch, heads, tokens, keys], false also of those that it does
    not see. `call(query, key, value)` leaves [batch, tokens, heads, width]. Without queries all weights that are seen
    are alike, and values that are 1 for one key and 0 for all others show its weight; as many keys at a time as a
    value is wide, so that every call has the shapes of the run's."""
    drew = not are_alike(before, state_of(query.device))
    mask = weights_above_0(call, before, query, key, value)
    if not drew and not torch.equal(mask, weights_above_0(call, before, query, key, value)):
        raise CaptureError("found an attention that draws from a generator of its own, expected one of PyTorch's; "
                           f"{INSTEAD}")
    return mask


def weights_above_0(call, before, query, key, value):
    keys, width, parts = key.shape[2], value.shape[-1], []
    for first in range(0, keys, width):
        count = min(width, keys - first)
        shown = like(value, 0)
        shown[:, :, first:first + count, :count] = torch.eye(count, dtype=value.dtype, device=value.device)
        with drawn_again(before, query.device):
            left = call(asking(like(query, 0), query), asking(like(key, 0), key), asking(shown, value)).detach()
        parts.append(left[..., :count] != 0)
    return torch.cat(parts, -1).transpose(1, 2)
