"""Sees losses as they are computed, modules and functionals alike, and the gradients that arrive there."""
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from .places import place_of_call
from .seen_losses import LOSSES, counted, options_of

SEEN = {F.cross_entropy: "cross_entropy", F.mse_loss: "mse"}
PRODUCTS = (torch.mul, torch.Tensor.mul, torch.Tensor.__mul__)
DEFAULTS = {"weight": None, "size_average": None, "ignore_index": -100, "reduce": None, "reduction": "mean",
            "label_smoothing": 0.0}


class Loss:
    """One call of a loss: what it read, how it reduces, and the gradients that came back. `called` is its function with
    all of its arguments; `y` is None where no case states such a loss."""

    def __init__(self, kind, y, target, options, called, read):
        self.kind, self.y, self.target, self.options, self.read = kind, y, target, options, read
        self.called, self.place = called, place_of_call()
        self.node = self.factor = self.d_y = self.rows = None

    def counted(self):
        """What it counts; None where the arguments are none that are known."""
        try:
            options = options_of(*self.called)
            found = counted(self.name, options)
        except Exception:  # pylint: disable=broad-except
            return None
        found.reduction = options["reduction"]
        return found

    @property
    def name(self):
        return self.called[0].__name__

    def unknown(self):
        """Why this call cannot be stated in a case; None where it can."""
        if self.y is None:
            return f"it is {self.name}"
        if self.options["size_average"] is not None or self.options["reduce"] is not None:
            return "it uses size_average or reduce"
        if self.kind == "cross_entropy" and self.target.is_floating_point():
            return "its targets are probabilities"
        if self.kind == "mse" and self.target.shape != self.y.shape:
            return "its target is broadcast"
        return None if self.y.dtype == torch.float32 else f"it is computed in {self.y.dtype}"


def rows_of(value, classes_at_1):
    """A tensor as [rows, features]."""
    if value.dim() < 2:
        return value.reshape(1, -1) if classes_at_1 else value.reshape(-1, 1)
    value = value.movedim(1, -1) if classes_at_1 and value.dim() > 2 else value
    return value.reshape(-1, value.shape[-1])


def autocast_is_on(device):
    """Whether autocast is on for a device; PyTorch before 2.4 asks by other names."""
    try:
        return torch.is_autocast_enabled(device)
    except TypeError:
        return torch.is_autocast_cpu_enabled() if device == "cpu" else torch.is_autocast_enabled()


class SeesLosses(TorchFunctionMode):
    """While it is entered, `called(loss)` hears of each call that takes part in autograd. `layers`, where it is given,
    hears of each weight that is multiplied by or looked up in and gives what is used in its place
    (`weight_read(weight, looked_up)`), of rows that were looked up (`looked_up(weight, rows)`), and of products of a
    tensor (`multiplied(tensor, product)`); `silent`, where it is given, of every call and its result."""

    def __init__(self, called, layers=None, silent=None):
        super().__init__()
        self.called, self.layers, self.silent = called, layers, silent

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = self.see(func, args, kwargs or {})
        if self.silent is not None:
            self.silent(func, args, result)
        return result

    def see(self, func, args, kwargs):
        if self.layers and func in (F.linear, F.embedding) and len(args) > 1:
            weight, own = args[1], self.layers.weight_read(args[1], func is F.embedding)
            args = (args[0], weight if own is None else own, *args[2:])
            if func is F.embedding:
                rows = func(*args, **kwargs)
                self.layers.looked_up(weight, rows)
                return rows
        elif self.layers and func in PRODUCTS and args:
            product = func(*args, **kwargs)
            self.layers.multiplied(args[0], product)
            return product
        if func not in LOSSES or not torch.is_grad_enabled():
            return func(*args, **kwargs)
        if func in SEEN:
            return self.watched(func, list(args), dict(kwargs))
        result = func(*args, **kwargs)
        if isinstance(result, torch.Tensor) and result.requires_grad:
            loss = Loss(func.__name__, None, None, DEFAULTS, (func, args, kwargs), args[0] if args else None)
            loss.node = result.grad_fn
            self.called(loss, result)
        return result

    def watched(self, func, args, kwargs):
        y = read = args.pop(0) if args else kwargs.pop("input")
        if not y.requires_grad:
            return func(y, *args, **kwargs)
        if autocast_is_on(y.device.type):
            y = y.float()  # what autocast does inside of the loss, done here where its result can be seen
        target = args[0] if args else kwargs["target"]
        names = list(DEFAULTS) if func is F.cross_entropy else ["size_average", "reduce", "reduction"]
        given = {name: value for name, value in kwargs.items() if name in DEFAULTS}
        loss = Loss(SEEN[func], y, target, {**DEFAULTS, **dict(zip(names, args[1:])), **given}, (func, (y, *args), kwargs), read)
        result = func(y, *args, **kwargs)
        loss.node = result.grad_fn
        self.called(loss, result)
        return result


def unit_of(dtype):
    """Half an ulp, relative; of what does not round 0."""
    return torch.finfo(dtype).eps / 2 if dtype.is_floating_point else 0.0


class Way:
    """What lies between the roots of a backward pass and its losses: the names of the operations there, the parameters that
    the gradient reaches by a way that passes none of the losses, and of each loss the operations above it."""

    def __init__(self, roots, losses, accumulators):
        self.above, todo, self.beside, self.names = {}, [], [], set()
        self.unit = max((unit_of(root.dtype) for root in roots), default=0.0)
        losses = set(losses)
        for root in roots:
            self.goes_on(None, root.grad_fn, todo)
        while todo:
            node = todo.pop()
            if node in losses:
                continue
            self.names.add(node.name())
            if node in accumulators:
                self.beside.append(accumulators[node])
            for further, _ in node.next_functions:
                self.goes_on(node, further, todo)

    def goes_on(self, node, further, todo):
        if further is None:
            return
        if further not in self.above:
            self.above[further] = []
            todo.append(further)
        if node is not None:
            self.above[further].append(node)

    def roundings(self, loss):
        """How many operations lie above a loss, and the unit of the coarsest; None where it was not reached."""
        if loss not in self.above:
            return None
        seen, todo, unit = set(), list(self.above[loss]), self.unit
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo.extend(self.above[node])
                unit = max([unit, *(unit_of(each.dtype) for each in getattr(node, "_input_metadata", ()) if hasattr(each, "dtype"))])
        return len(seen), unit
