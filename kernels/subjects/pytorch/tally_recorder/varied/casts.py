"""Tensors of a script by name, and the one floating format in which it computes, whatever it asks for."""
import contextlib
import gc
import hashlib

import torch

from ..user_code import held_by
from .dispatch_modes import Lifts, draws, name_of, shares
from .state import HALF_ULP, is_flag, mapped, storage_of

WRAPPERS = ("module.", "_orig_mod.")  # what those call their own that hold one model
set_default_dtype = torch.set_default_dtype
OF_THE_DEFAULT = ("rand", "randn", "normal")  # what they draw is of the default format where none is named


def roots():
    """All modules with tensors that stand in no other, in the order in which they were made."""
    gc.collect()
    modules = [each for each in gc.get_objects() if issubclass(type(each), torch.nn.Module)]
    inner = {id(child) for module in modules for child in (module.__dict__.get("_modules") or {}).values()}
    return [module for module in modules if id(module) not in inner and "_parameters" in module.__dict__ and tensors_of_module(module)]


def tensors_of_module(module):
    """(name, tensor), but for those that are made later."""
    return [each for each in (*module.named_parameters(), *module.named_buffers()) if not torch.nn.parameter.is_lazy(each[1])]


def held_by_all(optimizers):
    return [parameter for optimizer in optimizers for parameter in held_by(optimizer)]


def place_in(module, trained):
    """That of the first parameter which is trained; behind all of them where none is."""
    return min((trained.get(id(parameter), len(trained)) for parameter in module.parameters()), default=len(trained))


def named_of(optimizers):
    """(parameters and buffers of all that is trained, those of other modules), by name."""
    held = held_by_all(optimizers)
    trained = {id(parameter): i for i, parameter in enumerate(held)}
    ordered = sorted(((place_in(root, trained), root) for root in roots()), key=lambda each: each[0])
    own = [root for place, root in ordered if place < len(trained)]
    kinds = [type(root).__name__ for _, root in ordered]
    found, beside = {}, {}
    for i, (_, root) in enumerate(ordered):
        before = f"{kinds[i]}{kinds[:i].count(kinds[i]) or ''}." if len(own) != 1 or i else ""
        for name, tensor in tensors_of_module(root):
            while name.startswith(WRAPPERS):
                name = name.partition(".")[2]
            (found if i < len(own) else beside).setdefault(before + name, tensor)
    named = {id(tensor) for tensor in found.values()}
    for i, parameter in enumerate(held):
        if id(parameter) not in named:
            found[f"parameter {i} of the optimizer"] = parameter
    named |= set(map(id, held))
    return found, {name: tensor for name, tensor in beside.items() if id(tensor) not in named}


def sums_of(tensors):
    """Two numbers for each tensor, others where it is another."""
    with torch.no_grad():
        return {name: (float(tensor.double().sum()), float(tensor.double().norm())) for name, tensor in tensors.items()
                if tensor.is_floating_point()}


def is_format(value):
    return isinstance(value, torch.dtype) and value.is_floating_point


def memory_of(tensor):
    return tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def generator_of(tensor, stream):
    """Seeded by what the tensor holds, and a stream."""
    return torch.Generator().manual_seed(int.from_bytes(hashlib.sha256(memory_of(tensor)).digest()[:7], "little") ^ stream)


def is_part(tensor):
    """Whether it lies in memory that holds more."""
    return tensor.layout == torch.strided and 0 < tensor.numel() < storage_of(tensor).nbytes() // tensor.element_size()


def is_transformed(tensor):
    """Whether it stands for others within a transform of torch.func."""
    functorch = getattr(torch._C, "_functorch", None)
    return functorch is not None and functorch.is_functorch_wrapped_tensor(tensor)


def moved_rows(tensor, stream, size):
    """Moves each row by up to `size` of each element but its flags, by what the row itself and the stream draw: in whatever
    micro-batch a row comes, it is moved alike."""
    moved = tensor.clone()
    for row in moved if moved.dim() else ():
        draw = torch.rand(row.shape, generator=generator_of(row, stream), dtype=torch.float64) * 2 - 1
        row.mul_(torch.where(is_flag(row), torch.ones_like(draw), 1 + size * draw).to(row))
    return moved


class Casts(Lifts):
    """The script builds what it trains as it always does, up to its first optimizer or call of a model. From there on
    its models, its rows and all new tensors are of `dtype`; what is drawn is drawn in float32, so that all formats draw
    alike. `stream` moves parameters and rows by half ulps of `moved_by`, unless it is 0."""

    def __init__(self, dtype, stream=0, moved_by="float32"):
        super().__init__(dtype)
        self.half_ulp, self.stream, self.on = HALF_ULP[moved_by], stream, False
        self.cast_already, self.generator = {}, torch.Generator().manual_seed(stream)
        self.drew = lambda _: None  # is told the name of an operation that draws
        self.read = lambda func, given, result: None  # is told of every operation

    def begin(self):
        if not self.on:
            set_default_dtype(self.dtype)
            torch.set_default_dtype = lambda dtype: set_default_dtype(self.dtype if is_format(dtype) else dtype)
            self.on = True

    @contextlib.contextmanager
    def aside(self):
        """What is computed inside of it is not the script's."""
        on, self.on = self.on, False
        try:
            yield
        finally:
            self.on = on

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if not self.on:
            return func(*args, **(kwargs or {}))
        result = self.computed(func, types, args, kwargs)
        self.read(func, args, result)
        return result

    def computed(self, func, types, args, kwargs):
        if draws(func, args, kwargs or {}):
            self.drew(name_of(func))
            if self.dtype != torch.float32:
                return self.drawn(func, args, kwargs or {})
        return super().__torch_dispatch__(func, types, args, kwargs)

    def drawn(self, func, args, kwargs):
        """Numbers are drawn in float32, and cast."""
        lower = [self.lowered(value) for value in args]
        kwargs = {key: self.lowered(value) for key, value in kwargs.items()}
        if name_of(func) in OF_THE_DEFAULT and not any(isinstance(value, torch.Tensor) for value in args):
            kwargs["dtype"] = kwargs.get("dtype") or torch.float32
        result = func(*lower, **kwargs)
        if shares(func):
            return args[0].copy_(result) if args[0] is not lower[0] else result
        return mapped(result, lambda tensor: tensor.to(self.dtype) if tensor.is_floating_point() else tensor)

    def lowered(self, value):
        if isinstance(value, torch.Tensor) and value.dtype == self.dtype:
            return value.float()
        return torch.float32 if is_format(value) else value

    def rows(self, rows, dealt=False):
        """What a script gives a model, or a loader deals, cast."""
        def cast(tensor):
            if dealt and is_part(tensor):
                tensor = tensor.clone()  # what a loader deals is known by where it lies
            if not tensor.is_floating_point() or tensor.requires_grad or tensor.dtype == self.dtype and not dealt:
                return tensor
            value = tensor.to(self.dtype)
            return moved_rows(value, self.stream, self.half_ulp) if self.stream else value
        with self.aside(), torch.no_grad():
            return mapped(rows, cast)

    def tensors(self, tensors, beside=False):
        """Parameters and buffers, in place; those of modules `beside` what is trained are moved in whatever order they come."""
        with self.aside(), torch.no_grad():
            for tensor in tensors:
                if id(tensor) in self.cast_already or not tensor.is_floating_point() or is_transformed(tensor):
                    continue
                self.cast_already[id(tensor)] = tensor
                value = tensor.detach().to(self.dtype)
                if self.stream:
                    generator = generator_of(tensor, self.stream) if beside else self.generator
                    draw = torch.rand(value.shape, generator=generator, dtype=torch.float64) * 2 - 1
                    value = value * (1 + self.half_ulp * draw).to(value)
                gradient = tensor.grad if tensor.is_leaf else None
                tensor.data = value
                if gradient is not None:
                    tensor.grad = gradient.to(self.dtype)

    def module(self, module):
        self.begin()
        self.tensors([*module.parameters(), *module.buffers()])

    def beside(self, modules):
        """Modules that are not trained, such as an average of one that is."""
        for module in modules:
            self.tensors([tensor for _, tensor in tensors_of_module(module)], True)

    def optimizer(self, optimizer):
        self.begin()
        self.tensors(held_by(optimizer))
