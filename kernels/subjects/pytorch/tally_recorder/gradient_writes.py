"""Where the program writes to a gradient, so that a change of one has a place."""
import weakref

import torch

from .places import place_of_call

VIEWS = {"__getitem__", "detach", "view", "reshape", "flatten", "narrow", "select", "t"}
IN_PLACE = {"__setitem__", "__imul__", "__iadd__", "__isub__", "__itruediv__"}


class GradientWrites:
    """Follows the gradients of parameters, and views of them, as the program takes them in its hands; `last` is where it
    wrote to one."""

    def __init__(self, parameters):
        self.parameters, self.held, self.last = {id(parameter) for parameter in parameters}, {}, None

    def follow(self, tensor):
        if isinstance(tensor, torch.Tensor):
            key = id(tensor)
            self.held[key] = weakref.ref(tensor, lambda _: self.held.pop(key, None))

    def is_held(self, tensor):
        found = self.held.get(id(tensor))
        return found is not None and found() is tensor

    def called(self, function, arguments, result):
        name = getattr(function, "__name__", "")
        if name in ("__get__", "__set__"):
            of, owner = getattr(function, "__self__", None), arguments[0] if arguments else None
            if of is torch.Tensor.grad and id(owner) in self.parameters:
                if name == "__get__":
                    self.follow(result)
                elif arguments[1] is not None:
                    self.last = place_of_call()
            elif of is torch.Tensor.data and name == "__get__" and self.is_held(owner):
                self.follow(result)
            return
        if not self.held or not arguments:
            return
        if name in IN_PLACE or name.endswith("_") and not name.endswith("__"):
            first = arguments[0]
            if any(map(self.is_held, first if isinstance(first, (list, tuple)) else [first])):
                self.last = place_of_call()
        elif name in VIEWS and self.is_held(arguments[0]):
            self.follow(result)
