"""Sees losses as they are computed, modules and functionals alike, and the gradients that arrive there."""
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

SEEN = {F.cross_entropy: "cross_entropy", F.mse_loss: "mse"}
PRODUCTS = (torch.mul, torch.Tensor.mul, torch.Tensor.__mul__)
DEFAULTS = {"weight": None, "size_average": None, "ignore_index": -100, "reduce": None, "reduction": "mean",
            "label_smoothing": 0.0}


class Loss:
    """One call of a loss: what it read, how it reduces, and the gradients that came back."""

    def __init__(self, kind, y, target, options):
        self.kind, self.y, self.target, self.options = kind, y, target, options
        self.node = self.factor = self.d_y = self.rows = None

    def unknown(self):
        """Why this call cannot be stated in a case; None where it can."""
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
        if func not in SEEN or not torch.is_grad_enabled():
            return func(*args, **kwargs)
        return self.watched(func, list(args), dict(kwargs))

    def watched(self, func, args, kwargs):
        y = args.pop(0) if args else kwargs.pop("input")
        if not y.requires_grad:
            return func(y, *args, **kwargs)
        if autocast_is_on(y.device.type):
            y = y.float()  # what autocast does inside of the loss, done here where its result can be seen
        target = args[0] if args else kwargs["target"]
        names = list(DEFAULTS) if func is F.cross_entropy else ["size_average", "reduce", "reduction"]
        given = {name: value for name, value in kwargs.items() if name in DEFAULTS}
        loss = Loss(SEEN[func], y, target, {**DEFAULTS, **dict(zip(names, args[1:])), **given})
        result = func(y, *args, **kwargs)
        loss.node = result.grad_fn
        self.called(loss, result)
        return result


def between(roots, losses, accumulators):
    """The names of parameters that the gradient reaches from `roots` by a way that passes none of the losses, and the
    operations on such ways."""
    seen, todo, found, names = set(losses), [root.grad_fn for root in roots], [], set()
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        names.add(node.name())
        if node in accumulators:
            found.append(accumulators[node])
        todo.extend(further for further, _ in node.next_functions)
    return found, names
