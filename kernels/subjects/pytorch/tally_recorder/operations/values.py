"""The arguments and the results of an operation, as a line of the recording has them."""
import functools

import torch
from torch.nn.parameter import UninitializedTensorMixin

from .storages import storage_of

DTYPES = {getattr(torch, name): name for name in ("float32", "float16", "bfloat16", "float64", "int64", "int32", "int16", "int8",
                                                  "uint8", "bool")}
NAMED = {torch.dtype: "dtype", torch.device: "device", torch.layout: "layout", torch.memory_format: "memory_format"}
UNTOUCHED = "backward", "functional", "no_update", "no_training"  # batch norms that leave the running statistics as they are
PLAIN = torch.Tensor, torch.nn.Parameter


def overrides(kind):
    """Whether it is a kind of tensor that is called in place of every operation on it."""
    return kind not in PLAIN and kind.__torch_dispatch__ is not torch._C._disabled_torch_dispatch_impl


def kind_of(tensor):
    """Why a tensor cannot be recorded, in a word; empty where its format is the reason, None where it can."""
    if overrides(type(tensor)):
        return type(tensor).__name__
    if isinstance(tensor, UninitializedTensorMixin):
        return "without a shape yet"
    if tensor.layout is not torch.strided:
        return str(tensor.layout).rpartition(".")[2]
    if tensor.is_nested:
        return "nested"
    if tensor.is_quantized:
        return "quantised"
    if tensor.device.type == "meta":
        return "meta"
    if tensor.is_conj() or tensor.is_neg():
        return "lazily conjugated"
    return None if tensor.dtype in DTYPES else ""


def reaches(tensor):
    """The number of bytes from the start of its storage to its last element."""
    if not tensor.numel():
        return 0
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return (tensor.storage_offset() + last + 1) * tensor.element_size()


def unrecorded(tensor, kind):
    shape = "" if kind in ("nested", "without a shape yet") else str(list(tensor.shape))
    return {"u": " ".join(filter(None, (kind, str(tensor.dtype).rpartition(".")[2], shape)))}


def of_tensor(tensor, storages):
    kind = kind_of(tensor)
    if kind is not None:
        return unrecorded(tensor, kind)
    try:
        storage = storage_of(tensor)
        held = storage.nbytes() if storage.data_ptr() else 0
    except (RuntimeError, NotImplementedError):  # a wrapper of another tensor, such as a batch of vmap
        return unrecorded(tensor, "without a storage")
    if reaches(tensor) > held:
        return unrecorded(tensor, "without memory")
    return {"b": storages.block(tensor, storage), "d": DTYPES[tensor.dtype], "o": tensor.storage_offset(), "s": list(tensor.shape),
            "r": list(tensor.stride())}


def value_of(value, storages):
    if isinstance(value, torch.Tensor):
        return of_tensor(value, storages)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"f": value.hex()}
    if isinstance(value, (list, tuple)):
        return [value_of(each, storages) for each in value]
    if type(value) in NAMED:
        return {NAMED[type(value)]: str(value).rpartition(".")[2]}
    return {"other": repr(value) if isinstance(value, complex) else type(value).__name__}


def tensors_in(value):
    """The tensors of an argument, which is one, a list of some, or neither."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [each for each in value if isinstance(each, torch.Tensor)] if isinstance(value, (list, tuple)) else []


class Schema:
    """What an operation's arguments are called and which of them it writes to."""

    def __init__(self, func):
        schema = func._schema
        self.name, self.names = str(func), [each.name for each in schema.arguments]
        self.defaults = {each.name: each.default_value for each in schema.arguments if each.has_default_value()}
        self.writes = {each.name for each in schema.arguments if each.alias_info is not None and each.alias_info.is_write}
        own = schema.name.rpartition("::")[2]
        normalises = "norm" in own and not any(word in own for word in UNTOUCHED)
        self.statistics = {"running_mean", "running_var"}.intersection(self.names) - self.writes if normalises else set()

    def given(self, args, kwargs):
        """Every argument by its name, in the order of the schema."""
        given = {**self.defaults, **dict(zip(self.names, args)), **kwargs}
        return {name: given[name] for name in self.names if name in given}

    def written(self, given):
        """The names of the arguments that a call writes to. Running statistics are written in training, though few schemas
        say so."""
        if self.statistics and given.get("training", given.get("train", True)):
            return self.writes | self.statistics
        return self.writes


schema_of = functools.lru_cache(maxsize=None)(Schema)


@functools.lru_cache(maxsize=None)
def is_operation(func):
    return isinstance(func, torch._ops.OpOverload) and not func._schema.name.startswith("profiler::")


@functools.lru_cache(maxsize=None)
def has_parts(func):
    """Whether it is made of other operations, which are what PyTorch runs: in inference mode it arrives as a whole."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return has(func.name(), "CompositeImplicitAutograd") and not has(func.name(), "CPU") and not has(func.name(), "CUDA")
