"""Losses of torch.nn.functional: what each call reads, counts and gets back, modules and functionals alike."""
import inspect

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from ..user_code import place_of_call
from .accumulation import same

OF_ROWS = {"cosine_embedding_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss", "multi_margin_loss",
           "multilabel_margin_loss", "multilabel_soft_margin_loss"}  # one number for each row
OF_CLASSES = {"cross_entropy", "nll_loss", "linear_cross_entropy"}
STATED_LOSSES = {F.cross_entropy: "cross_entropy", F.mse_loss: "mse"}
PRODUCTS = (torch.mul, torch.Tensor.mul, torch.Tensor.__mul__)
DEFAULTS = {"weight": None, "size_average": None, "ignore_index": -100, "reduce": None, "reduction": "mean",
            "label_smoothing": 0.0}


def with_a_reduction():
    """The functions that take a `reduction`, by their names, with their signatures."""
    found = {}
    for name in dir(F):
        function = getattr(F, name)
        if name.startswith("_") or not callable(function) or not inspect.isfunction(function):
            continue
        signature = inspect.signature(function)
        if "reduction" in signature.parameters:
            found[function] = signature
    return found


LOSSES = with_a_reduction()


def options_of(function, args, kwargs):
    """All arguments by their names."""
    bound = LOSSES[function].bind(*args, **kwargs)
    bound.apply_defaults()
    options = dict(bound.arguments)
    if options.get("size_average") is not None or options.get("reduce") is not None:
        options["reduction"] = torch.nn._reduction.legacy_get_string(options["size_average"], options["reduce"], False)
    return options


class Counted:
    """`items` of a call, `size` of them with those that do not count, `rows` that they come from, and `over`, what a mean
    divides by; how it reduces them."""
    reduction = "mean"

    def __init__(self, items, size, rows, over):
        self.items, self.size, self.rows, self.over = items, size, rows, over


def count_items(kind, options):
    """What a call counts."""
    first = next(value for value in options.values() if isinstance(value, torch.Tensor))
    target, rows = options.get("target"), first.shape[0] if first.dim() else 1
    if kind in OF_CLASSES and not target.is_floating_point():
        ignored = options["ignore_index"]
        counts = target != (-100 if ignored is None else ignored)
        if options["weight"] is None:
            items = int(counts.sum())
        else:
            items = float(options["weight"].detach().double()[target[counts]].sum())
        return Counted(items, target.numel(), rows if target.dim() > 1 else items, items)
    if kind == "cross_entropy":
        items = first.numel() // first.shape[1 if first.dim() > 1 else 0]
        return Counted(items, items, items, items)
    if kind == "ctc_loss":
        lengths = options["target_lengths"]
        items = lengths.numel() if isinstance(lengths, torch.Tensor) else len(lengths)
        return Counted(items, items, items, items)
    if kind == "kl_div" and options["reduction"] in ("sum", "batchmean"):
        items = first.numel() // first.shape[-1] if first.dim() else 1
        return Counted(items, items, rows, rows)
    if kind in OF_ROWS:
        return Counted(rows, rows, rows, rows)
    others = [value.shape for value in options.values() if isinstance(value, torch.Tensor) and value is not options.get("weight")
              and value is not options.get("pos_weight")]
    items = torch.Size(torch.broadcast_shapes(*others)).numel()
    return Counted(items, items, rows, items)


class Loss:
    """One call of a loss: what it read, how it reduces, and the gradients that came back. `called` is its function with
    all of its arguments; `y` is None where no case states such a loss."""

    def __init__(self, kind, y, target, options, called, read):
        self.kind, self.y, self.target, self.options, self.read = kind, y, target, options, read
        self.called, self.place = called, place_of_call()
        self.node = None

    def counted(self):
        """What it counts; None where the arguments are none that are known."""
        try:
            options = options_of(*self.called)
            found = count_items(self.name, options)
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
        if func in STATED_LOSSES:
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
        loss = Loss(STATED_LOSSES[func], y, target, {**DEFAULTS, **dict(zip(names, args[1:])), **given}, (func, (y, *args), kwargs), read)
        result = func(y, *args, **kwargs)
        loss.node = result.grad_fn
        self.called(loss, result)
        return result


def unit_of(dtype):
    """Half an ulp, relative; 0 where nothing rounds."""
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


class Seen:
    """What is kept of one call of a loss."""
    fused = False

    def __init__(self, loss, y, target, rows, x):
        self.kind, self.options, self.node = loss.kind, loss.options, loss.node
        self.name, self.place, self.read, self.counted = loss.name, loss.place, loss.read, loss.counted()
        self.lengths = self.labels = self.positions = None  # those of the sequences that its rows are
        self.call = None  # the call of the term that it is
        self.y, self.target, self.rows, self.x = y, target, rows, x
        self.unknown, self.factor, self.d_y = loss.unknown(), None, None
        self.result = self.lines = None

    def take(self, rows, scratch):
        self.lengths = rows.lengths
        self.labels = None if rows.labels is None else scratch.put(rows.labels)
        self.positions = None if rows.positions is None else scratch.put(rows.positions)

    def is_kept(self):
        """Whether enough of it is there to be judged: its logits and their gradient, or its items alone."""
        return self.d_y is not None if self.y is not None else self.rows is not None


class FactorOnly(str):
    """Why the loss of a micro-batch is not stated although its factor is judged: a sample holds no logits. `mean` says
    whether it divides by its own items."""
    mean = False


class Cut:
    """Rows of a loss that reads `logits[:, :-1]`, as a loss over all rows that ignores each line's last."""

    def __init__(self, logits, y, target, ignored):
        self.lines, self.length = logits.shape[:2]
        self.y = logits.reshape(-1, logits.shape[-1])
        self.target = torch.cat([target.reshape(self.lines, -1), target.new_full((self.lines, 1), ignored)], 1).reshape(-1)

    def whole(self, gradient):
        gradient = gradient.reshape(self.lines, self.length - 1, -1)
        return torch.nn.functional.pad(gradient, (0, 0, 0, 1)).reshape(self.lines * self.length, -1)


def cut_of(y, target, logits, options):
    """The rows of a loss that reads `logits[:, :-1]`; None where it does not read just that."""
    if logits is None or logits.dim() != 3 or y.shape[0] != logits.shape[0] * (logits.shape[1] - 1):
        return None
    if not same(y.contiguous(), logits[:, :-1].reshape(y.shape).contiguous()):
        return None
    return Cut(logits, y, target, options["ignore_index"])
