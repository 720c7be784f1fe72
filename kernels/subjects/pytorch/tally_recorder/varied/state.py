"""What a loop keeps: rows of a window and the state that `make` gives, in whatever holds them, dealt, named, cast and moved."""
import copy
import hashlib
from collections.abc import Mapping, MutableMapping, Sequence, Set

import torch
from torch import nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.utils.spectral_norm import SpectralNorm

from ..user_code import CaptureError

OF_MODULES = ("_parameters", "_buffers", "_modules")
OF_OPTIMIZERS = ("param_groups", "state", "defaults")
HALF_ULP = {"float64": 2.0**-53, "float32": 2.0**-24}
COMPLEX = {torch.float64: torch.complex128, torch.float32: torch.complex64}


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
    """Parameters and buffers of the modules, and tensors beside them, by name, but for those that are computed of
    others."""
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
    """Whether each element of a row names something rather than measures it. Whole numbers, what is met twice and what
    is not finite would mean something else, or nothing, if they were moved."""
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


try:
    from torch.nn.utils.parametrizations import _SpectralNorm
except ImportError:
    _SpectralNorm = SpectralNorm


def sees_the_batch(module):
    """BatchNorm; InstanceNorm that follows the statistics; a spectral norm, which goes a step on in every forward pass."""
    if isinstance(module, _NormBase):
        return isinstance(module, nn.modules.batchnorm._BatchNorm) or module.track_running_stats
    return isinstance(module, _SpectralNorm) or any(isinstance(hook, SpectralNorm) for hook in module._forward_pre_hooks.values())


def batch_layers(modules):
    """(name, layer) of those that see the batch, of (name, module)."""
    return [(".".join(filter(None, (name, own))), layer) for name, module in modules for own, layer in module.named_modules()
            if sees_the_batch(layer)]


def label_of_layer(name, layer):
    """The layer as vary.json lists it."""
    return f"{type(layer).__name__ if isinstance(layer, _NormBase) else 'SpectralNorm'} {name}"


def hold_still(layer, dtype=None):
    """Keeps a layer out of training, by statistics that stand still."""
    if isinstance(layer, _NormBase) and layer.running_mean is None:
        device = next((parameter.device for parameter in layer.parameters()), None)
        layer.running_mean, layer.running_var = (fill(layer.num_features, dtype=dtype, device=device) for fill in (torch.zeros, torch.ones))
    layer.train(False)
    layer.train = lambda mode=True: layer
