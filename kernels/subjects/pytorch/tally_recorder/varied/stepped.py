"""What the steps of a run are made with: the options of their optimizers, and gradients that nobody cleared."""
import torch

from ..steps import SeesSteps


class Stepped:
    """Tells `listener` of the steps of one optimizer, and which it is."""

    def __init__(self, listener, optimizer):
        self.listener, self.optimizer = listener, optimizer
        self.evaluated = getattr(listener, "evaluated", self.step_ends)
        SeesSteps(optimizer, self)

    def step_begins(self):
        self.listener.step_begins(self.optimizer)

    def step_ends(self):
        self.listener.step_ends(self.optimizer)


def numbers_of(name, value):
    """(name, number) of what is one, or has some: "betas[0]"."""
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        value = value.item()
    if isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            yield from numbers_of(f"{name}[{i}]", each)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield name, float(value) if abs(value) < float("inf") else None


def options_of(optimizer):
    """Of all its groups, as vary.json lists them."""
    groups = optimizer.param_groups
    return [{"name": f"{name} of group {i}" if len(groups) > 1 else name, "value": value} for i, group in enumerate(groups)
            for key, given in group.items() if key != "params" for name, value in numbers_of(key, given)]


def gradients_of(optimizer):
    return [(parameter, parameter.grad) for group in optimizer.param_groups for parameter in group["params"]
            if parameter.grad is not None]


class Uncleared:
    """Sees gradients that a backward pass adds to what a step has left, and that are handed to the next step. What was changed in
    between, such as a momentum by hand, was meant."""

    def __init__(self):
        self.left, self.beneath, self.inside = {}, {}, False  # (parameter, gradient, its version) by the parameter's id

    def stepped(self, optimizer):
        for parameter, gradient in gradients_of(optimizer):
            self.beneath.pop(id(parameter), None)
            self.left[id(parameter)] = (parameter, gradient, gradient._version)

    def backward_begins(self):
        self.left = {key: kept for key, kept in self.left.items() if as_it_was(*kept) and bool(kept[1].any())}
        self.beneath = {key: kept for key, kept in self.beneath.items() if as_it_was(*kept) or is_there(kept[0])}

    def backward_ends(self):
        for key, kept in {**self.left, **self.beneath}.items():
            parameter = kept[0]
            if not as_it_was(*kept) and parameter.grad is not None:
                self.left.pop(key, None)
                self.beneath[key] = (parameter, parameter.grad, parameter.grad._version)

    def is_handed(self, optimizer):
        return any(id(parameter) in self.beneath and is_there(parameter) for parameter, _ in gradients_of(optimizer))

    def around(self, original):
        """In the place of torch.autograd.backward."""
        def backward(*args, **kwargs):
            if self.inside:  # a checkpoint's own, within another
                return original(*args, **kwargs)
            self.inside = True
            self.backward_begins()
            try:
                return original(*args, **kwargs)
            finally:
                self.backward_ends()
                self.inside = False
        return backward


def as_it_was(parameter, gradient, version):
    return parameter.grad is gradient and gradient._version == version


def is_there(parameter):
    return parameter.grad is not None and bool(parameter.grad.any())
