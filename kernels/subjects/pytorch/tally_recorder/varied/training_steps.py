"""What is seen of a run's steps: options of the optimizers, gradients that nobody cleared, those that a step was handed, and the
terms of the loss that they come from."""
import contextlib
import inspect
import os
import re

import torch

from ..capture.steps import SeesSteps
from ..user_code import frames_of, held_by, here, own_frame, place_of_frames

FUNCTIONS = os.path.join("torch", "nn", "functional.py")
SUMS = ("Add", "Sub", "Rsub")
LINEAR = ("Mul", "Div", "Neg", "ToCopy", "Clone", "Alias", "Squeeze", "Unsqueeze", "View")  # whose inputs are one that is trained, and a number
NO_CHECKS = (False,) if "check_nan" in inspect.signature(torch.autograd.set_detect_anomaly.__init__).parameters else ()


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
    """The options of all its groups, as vary.json lists them."""
    groups = optimizer.param_groups
    return [{"name": f"{name} of group {i}" if len(groups) > 1 else name, "value": value} for i, group in enumerate(groups)
            for key, given in group.items() if key != "params" for name, value in numbers_of(key, given)]


def gradients_of(optimizer):
    return [(parameter, parameter.grad) for parameter in held_by(optimizer) if parameter.grad is not None]


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
        """Stands in for torch.autograd.backward."""
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


def kind_of(node):
    return re.sub(r"Backward\d*$", "", type(node).__name__)


def edges_of(root):
    """(parent, which of its inputs, node) of each term; no parent of a loss that is one."""
    found, open_ones = [], [(None, 0, root)]
    while open_ones:
        edge = open_ones.pop()
        kind, inputs = kind_of(edge[2]), [(i, node) for i, (node, _) in enumerate(edge[2].next_functions) if node is not None]
        if kind in SUMS or kind in LINEAR and len(inputs) == 1:
            open_ones += [(edge[2], i, node) for i, node in reversed(inputs)]
        else:
            found.append(edge)
    return found


def told_of(node):
    """(name of the function, place) as the program called it."""
    if kind_of(node) == "AccumulateGrad":
        return "a parameter", None
    frames = frames_of(node.metadata.get("traceback_", []))
    own = own_frame(frames)
    within = frames[frames.index(own) + 1:] if own else []
    name = next((frame.name for frame in within if frame.filename.endswith(FUNCTIONS)), None)
    return name or re.sub(r"(?<!^)(?=[A-Z][a-z])", "_", kind_of(node)).lower(), place_of_frames(frames)


def terms_of(roots):
    """{key: (name, place, edges)}; those of one name and line are told apart by their order."""
    found, nodes, count = {}, {}, {}
    for edge in (edge for root in roots for edge in edges_of(root)):
        if edge[2] not in nodes:
            name, place = told_of(edge[2])
            key = name, place and (place["file"], place["line"])
            count[key] = count.get(key, -1) + 1
            nodes[edge[2]] = (*key, count[key])
            found[nodes[edge[2]]] = name, place, []
        found[nodes[edge[2]]][2].append(edge)
    return found


def blocks(index):
    """A hook that lets no gradient pass to this input, or to any of them for None."""
    def hook(gradients, _):
        return tuple(torch.zeros_like(gradient) if gradient is not None and index in (None, i) else gradient
                     for i, gradient in enumerate(gradients))
    return hook


@contextlib.contextmanager
def only(terms, key):
    """A backward pass inside of it is of this term alone."""
    handles = [node.register_hook(blocks(None)) if parent is None else parent.register_hook(blocks(i))
               for other, (_, _, edges) in terms.items() if other != key for parent, i, node in edges]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


class Seen:
    """What was seen of one optimizer in one window: gradients as the last backward pass before its first step left them, and as that
    step was handed them, flat and by name; parameters and the optimizer's state there; the places of both calls; the terms of the
    losses, {key: (name, place)}; and `after`, the parameters that its last step left."""

    def __init__(self):
        self.accumulated, self.handed, self.parameters, self.moments, self.places = None, None, {}, {}, {}
        self.terms, self.after = {}, {}


class Watch:
    """Sees the gradients of a run: a Seen for each optimizer in each window, all of it, or the gradients alone in the
    last of `count` windows. There `others`, the Seens of a run of the whole batch but of the one optimizer that is
    asked for, say what steps leave: that one's gradients are sums over rows only where all else stands still. `term` is
    the key of what alone is sent back there."""

    def __init__(self, all_of_it, count=0, others=(), term=None):
        self.all_of_it, self.count, self.others, self.term = all_of_it, count, others, term
        self.windows, self.names, self.tensors, self.optimizers = [], {}, {}, 0
        self.inside = self.stepped = False

    def begins(self, tensors, optimizers):
        self.tensors = {name: tensor for name, tensor in tensors.items() if tensor.is_leaf}
        self.names = {id(tensor): name for name, tensor in tensors.items()}
        self.optimizers = max(len(optimizers), 1)  # where there is none, all that the loop has is of one
        for i, optimizer in enumerate(optimizers):
            SeesSteps(optimizer, OfOptimizer(self, optimizer, i))

    def window(self):
        if self.windows and not self.all_of_it:
            self.windows[-1] = []
        self.windows.append([Seen() for _ in range(self.optimizers)])

    def gradients(self):
        return {name: flat_of(tensor.grad) for name, tensor in self.tensors.items() if tensor.grad is not None}

    @contextlib.contextmanager
    def running(self):
        """Backward passes are seen inside of it, and each operation knows where it was called."""
        original, before = torch.autograd.backward, torch.is_anomaly_enabled()

        def backward(tensors, *args, **options):
            if self.inside or not self.windows:  # a checkpoint's own, within another; `make` may train as well
                return original(tensors, *args, **options)
            waiting = [seen for seen in self.windows[-1] if seen.handed is None]
            terms = terms_of([root.grad_fn for root in roots_of(tensors) if root.grad_fn is not None])
            for seen in waiting:
                if self.stepped:  # those before were another optimizer's
                    seen.terms.clear()
                seen.terms.update((key, (name, place)) for key, (name, place, _) in terms.items())
            self.inside, self.stepped = True, False
            try:
                with only(terms if self.term and len(self.windows) == self.count else {}, self.term):
                    result = original(tensors, *args, **options)
            finally:
                self.inside = False
            gradients, places = (self.gradients(), {"backward": here(), "scaled": scaled_at(tensors)}) if waiting else (None, {})
            for seen in waiting:
                seen.accumulated = gradients
                seen.places.update(places)
            return result
        torch.autograd.backward = backward
        torch.autograd.set_detect_anomaly(True, *NO_CHECKS)
        try:
            yield
        finally:
            torch.autograd.backward = original
            torch.autograd.set_detect_anomaly(before)


class OfOptimizer:
    """Told of the steps of one optimizer; the first of a window is kept."""

    def __init__(self, watch, optimizer, number):
        self.watch, self.optimizer, self.number = watch, optimizer, number

    def held(self):
        return [parameter for parameter in held_by(self.optimizer) if id(parameter) in self.watch.names]

    def step_begins(self):
        seen = self.watch.windows[-1][self.number]
        if seen.handed is not None:
            return
        held = [parameter for parameter in self.held() if parameter.grad is not None]
        seen.places["step"], seen.handed = here(), {}
        own = {self.watch.names[id(parameter)] for parameter in held}
        seen.accumulated = {name: value for name, value in (seen.accumulated or {}).items() if name in own}
        for parameter in held:
            name = self.watch.names[id(parameter)]
            seen.handed[name] = flat_of(parameter.grad)
            if not self.watch.all_of_it:
                continue
            seen.parameters[name] = flat_of(parameter)
            for key, value in self.optimizer.state.get(parameter, {}).items():
                if isinstance(value, torch.Tensor) and value.shape == parameter.shape:
                    seen.moments.setdefault(key, {})[name] = flat_of(value)

    def step_ends(self):
        watch, named = self.watch, {self.watch.names[id(parameter)]: parameter for parameter in self.held()}
        watch.stepped = True
        if watch.all_of_it:
            watch.windows[-1][self.number].after = {name: parameter.detach().clone() for name, parameter in named.items()}
        elif len(watch.windows) == watch.count and watch.others and watch.others[self.number]:
            with torch.no_grad():
                for name, value in watch.others[self.number].after.items():
                    named[name].copy_(value)


def flat_of(tensor):
    tensor = tensor.detach()
    tensor = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return (tensor.to_dense() if tensor.is_sparse else tensor).double().flatten().clone().cpu()


def roots_of(tensors):
    return [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)


def scaled_at(tensors):
    """The place where a loss was multiplied or divided, if that was the last that was done to it."""
    node = roots_of(tensors)[0].grad_fn
    if node is None or type(node).__name__.rstrip("0123456789") not in ("MulBackward", "DivBackward"):
        return None
    return place_of_frames(frames_of(node.metadata.get("traceback_", [])))
