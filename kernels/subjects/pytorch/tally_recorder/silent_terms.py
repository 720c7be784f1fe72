"""Terms of a loss that were computed without gradients, and so send nothing back."""
import weakref

import torch

from .places import place_of_call

ADDS = {torch.add, torch.sub, torch.rsub, *(getattr(torch.Tensor, name) for name in (
    "add", "sub", "add_", "sub_", "__add__", "__radd__", "__sub__", "__rsub__", "__iadd__", "__isub__"))}


def tensors_in(arguments):
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            yield argument
        elif isinstance(argument, (list, tuple)):
            yield from tensors_in(argument)


class SilentTerms:
    """Follows what is computed under no_grad from what has a gradient, until it is added to something that has one.
    `heard(place)` is told of a single number that is. What was detached on purpose is not followed."""

    def __init__(self, heard):
        self.heard, self.silent = heard, {}  # by id: a weak reference

    def follow(self, tensor):
        key = id(tensor)
        self.silent[key] = weakref.ref(tensor, lambda _: self.silent.pop(key, None))

    def is_silent(self, tensor):
        held = self.silent.get(id(tensor))
        return held is not None and held() is tensor

    def called(self, function, arguments, result):
        if not self.silent and torch.is_grad_enabled():
            return
        given = list(tensors_in(arguments))
        silent = [tensor for tensor in given if self.is_silent(tensor)]
        if torch.is_grad_enabled():
            if not silent:
                return
            if isinstance(result, torch.Tensor) and result.requires_grad:
                if function in ADDS and result.dim() == 0 and any(tensor.dim() == 0 for tensor in silent):
                    self.heard(place_of_call())
                return
        elif not silent and not any(tensor.requires_grad for tensor in given):
            return
        for tensor in tensors_in([result]):
            if tensor.is_floating_point() and not tensor.requires_grad:
                self.follow(tensor)
