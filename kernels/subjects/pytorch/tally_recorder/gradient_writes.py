"""Where the program writes to a gradient, so that a change of one has a place."""
import weakref

import torch

from .places import place_of_call

VIEWS = {"__getitem__", "detach", "view", "reshape", "flatten", "narrow", "select", "t"}
IN_PLACE = {"__setitem__", "__imul__", "__iadd__", "__isub__", "__itruediv__"}
ALL_ALIKE = {"requires_grad_", "zero_", "_foreach_zero_"}  # leave the elements as they are, or clear them


class GradientWrites:
    """Follows the gradients of parameters, and views of them, as the program takes them in its hands; `last` is where it
    wrote to one, `late` where it first did so while `is_late()`, and left anything."""

    def __init__(self, parameters, is_late):
        self.parameters, self.held, self.last = {id(parameter) for parameter in parameters}, {}, None
        self.is_late, self.late = is_late, None

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
            first = first if isinstance(first, (list, tuple)) else [first]
            if any(map(self.is_held, first)):
                self.last = place_of_call()
                if self.late is None and name not in ALL_ALIKE and self.is_late() and any(bool(each.any()) for each in first):
                    self.late = self.last
        elif name in VIEWS and self.is_held(arguments[0]):
            self.follow(result)

    def lines(self):
        return [] if self.late is None else [f"look at a change behind the step: gradients are changed at {self.late}, which no step "
                                             "reads; move it before optimizer.step()"]
