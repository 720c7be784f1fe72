"""What `make` gives: its parts, found in whatever holds them, their names, and how they are cast and moved."""
from collections.abc import Mapping, Sequence, Set

import torch

from ..errors import CaptureError

OF_MODULES = ("_parameters", "_buffers", "_modules")
OF_OPTIMIZERS = ("param_groups", "state", "defaults")
COMPLEX = {torch.float64: torch.complex128, torch.float32: torch.complex64}


def attributes_of(value):
    """What an object holds beside what its kind lists itself; nothing of functions and of PyTorch's own other objects."""
    hidden = OF_MODULES if isinstance(value, torch.nn.Module) else OF_OPTIMIZERS if isinstance(value, torch.optim.Optimizer) else ()
    if isinstance(value, type) or callable(value) and not hidden and type(value).__module__ in ("builtins", "functools"):
        return {}
    return {name: held for name, held in getattr(value, "__dict__", {}).items() if name not in hidden}


def parts_of(state, kinds, name="", seen=None):
    """(name, part) of all modules, optimizers or tensors, in mappings, lists, sets and objects, each once."""
    seen = {} if seen is None else seen
    if id(state) in seen:
        return
    seen[id(state)] = state
    if isinstance(state, kinds):
        yield name, state
    elif isinstance(state, torch.Tensor):
        return
    elif isinstance(state, Mapping):
        for key, value in state.items():
            yield from parts_of(value, kinds, f"{name}.{key}" if name else str(key), seen)
    elif isinstance(state, (Sequence, Set)) and not isinstance(state, (str, bytes, range)):
        for i, value in enumerate(state):
            yield from parts_of(value, kinds, f"{name}.{i}" if name else str(i), seen)
    else:
        within = dict(state.named_modules()) if isinstance(state, torch.nn.Module) else {"": state}
        for own, holder in within.items():
            seen[id(holder)] = holder
            for key, value in attributes_of(holder).items():
                yield from parts_of(value, kinds, ".".join(filter(None, (name, own, key))), seen)


def tensors_of_state(state):
    """By name: parameters and buffers of the modules, and tensors beside them, but for those that are computed of others."""
    found = {}
    for name, module in parts_of(state, torch.nn.Module):
        for own, tensor in [*module.named_parameters(), *module.named_buffers()]:
            found[f"{name}.{own}" if name else own] = tensor
    listed = {id(tensor) for tensor in found.values()}
    for name, tensor in parts_of(state, torch.Tensor):
        if tensor.grad_fn is None and id(tensor) not in listed:
            found.setdefault(name, tensor)
    return found


def storage_of(tensor):
    return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()


def cast(tensors, dtype, moved=None):
    """Casts tensors and their gradients in place; those that share memory share it again. `moved` changes what parameters hold."""
    tensors = list({id(tensor): tensor for tensor in tensors}.values())
    gradients = [(tensor, tensor.grad) for tensor in tensors if tensor.is_leaf and tensor.grad is not None]
    for tensor, _ in gradients:
        tensor.grad = None
    held, alike = {}, {}
    for each, change in [*((tensor, moved) for tensor in tensors), *((gradient, None) for _, gradient in gradients)]:
        if each.is_floating_point() or each.is_complex():
            held.setdefault(id(each), (each, change))
    for each, change in held.values():
        key = (storage_of(each).data_ptr(), each.dtype) if each.layout == torch.strided and each.numel() else id(each)
        alike.setdefault(key, []).append((each, change))
    for sharing in alike.values():
        recast(sharing, dtype)
    for tensor, gradient in gradients:
        tensor.grad = gradient


def recast(sharing, dtype):
    """Tensors of one memory, or one tensor."""
    (first, change), kind = sharing[0], COMPLEX[dtype] if sharing[0][0].is_complex() else dtype
    if len(sharing) == 1:
        value = first.detach().to(kind)
        first.data = change(value) if change else value
        return
    flat = first.detach().as_strided((storage_of(first).nbytes() // first.element_size(),), (1,), 0).to(kind)
    flat = change(flat) if change else flat
    for each, _ in sharing:
        each.data = flat.as_strided(each.shape, each.stride(), each.storage_offset())


def is_flag(row):
    """Of each element of a row: whether it names something rather than measures it. Whole numbers, what is met twice and what is
    not finite would mean something else, or nothing, if they were moved."""
    _, place, count = torch.unique(row, return_inverse=True, return_counts=True)
    return (row == row.round()) | ~row.isfinite() | (count[place] > 1)


def moved_by_half_ulps(stream, unit):
    """Moves a tensor by up to half an ulp of a format with this unit, relative to each element."""
    generator = torch.Generator().manual_seed(stream)

    def moved(value):
        real = torch.view_as_real(value) if value.is_complex() else value
        draw = torch.rand(real.shape, generator=generator, dtype=torch.float64) * 2 - 1
        step = torch.where(real.isfinite(), real, torch.zeros_like(real)) * (unit * draw).to(real.device)
        result = real + step.to(real)
        return torch.view_as_complex(result) if value.is_complex() else result
    return moved


def moved_rows(rows, moved):
    """The rows, each of which keeps its flags where it is."""
    result = moved(rows)
    for row, other in zip(rows, result) if rows.dim() > 0 else ():
        kept = is_flag(torch.view_as_real(row) if row.is_complex() else row)
        real = torch.view_as_real(other) if other.is_complex() else other
        real[kept] = (torch.view_as_real(row) if row.is_complex() else row)[kept]
    return result


def without_extents(state):
    """The error of a model whose parameters get their extents where it is first called; None where all have some."""
    for name, tensor in tensors_of_state(state).items():
        if isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin):
            return CaptureError(f"vary: found {name} without extents, expected a model that holds its numbers; call it once in `make`")
    return None
