"""A run in float64 is one throughout: what a step casts to, or keeps in, a lower format has float64 in it as well."""
import functools

import torch
from torch.utils._python_dispatch import TorchDispatchMode

FORMATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def name_of(func):
    return func._schema.name.rpartition("::")[2]


def unscaled(gradients, found, factor):
    """_amp_foreach_non_finite_check_and_unscale_, in any format."""
    for gradient in gradients:
        if not bool(gradient.isfinite().all()):
            found.fill_(1.0)
        gradient.mul_(factor.to(gradient))


def rescaled(scale, steps, found, growth, backoff, interval):
    """_amp_update_scale_, in any format."""
    if bool(found):
        steps.zero_()
        return scale.mul_(backoff)
    if int(steps.add_(1)) == interval:
        steps.zero_()
        scale.mul_(growth)
    return scale


SCALER = {"_amp_foreach_non_finite_check_and_unscale_": unscaled, "_amp_update_scale_": rescaled}


class Lifts(TorchDispatchMode):
    """Formats that an operation is asked for, and those of what it is given, are float64, or `dtype`, in place of a lower one. What an
    operation writes to, or hands out as it is, keeps its own."""

    def __init__(self, dtype=torch.float64):
        super().__init__()
        self.dtype, self.low = dtype, FORMATS[FORMATS.index(dtype) + 1:]
        self.found = False  # something to lift

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if kwargs.get("dtype") in self.low:
            self.found, kwargs = True, {**kwargs, "dtype": self.dtype}
        if name_of(func) in SCALER:  # which has kernels for float32 alone
            return SCALER[name_of(func)](*args)
        if not shares(func):
            args = tuple(self.lifted(arg) for arg in args)
            kwargs = {key: self.lifted(value) for key, value in kwargs.items()}
        return func(*args, **kwargs)

    def lifted(self, value):
        if isinstance(value, torch.Tensor) and value.dtype in self.low:
            self.found = True
            return value.to(self.dtype)
        return type(value)(self.lifted(each) for each in value) if type(value) in (list, tuple) else value


@functools.lru_cache(maxsize=None)
def shares(func):
    """Whether what it returns is, or is part of, what it was given."""
    return any(result.alias_info is not None for result in func._schema.returns)


PROBABILITIES = ("dropout_p", "dropout", "p")


def draws(func, args, kwargs):
    """Whether it draws numbers: a dropout of 0, or outside of training, draws none."""
    if torch.Tag.nondeterministic_seeded not in func.tags:
        return False
    arguments = func._schema.arguments
    given = {each.name: each.default_value for each in arguments if each.has_default_value()}
    given.update({each.name: value for each, value in zip(arguments, args)}, **kwargs)
    trains = given.get("train", given.get("training", True)) is not False
    p = next((given[name] for name in PROBABILITIES if name in given), None)
    return trains and not (isinstance(p, (int, float)) and p == 0 and "drop" in func._schema.name + " ".join(given))


@functools.lru_cache(maxsize=None)
def writes(func):
    """Whether it changes what it returns, which it was given."""
    return any(result.alias_info is not None and result.alias_info.is_write for result in func._schema.returns)
