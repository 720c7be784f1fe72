"""What is seen of a script while it trains: its optimizers' steps, its windows, its micro-batches and their rows."""
import gc
import hashlib
import os
import traceback

import torch

from ...steps import SeesSteps
from ..places import here
from ..rows import tensors_of
from ..weights import flat_of
from .casts import memory_of

LOADERS = os.path.join(os.path.dirname(torch.__file__), "utils", "data") + os.sep
WRAPPERS = ("module.", "_orig_mod.")  # what those call their own that hold one model


class Enough(BaseException):
    """Ends a script whose windows are all seen; no script's `except Exception` holds it up."""


class Stepped:
    """Told of the steps of one optimizer."""

    def __init__(self, seen, optimizer):
        self.seen, self.optimizer = seen, optimizer

    def step_begins(self):
        self.seen.step_begins(self.optimizer)

    def step_ends(self):
        self.seen.step_ends()


def bytes_of_row(row, mask):
    """A row without what pads it to the length of its neighbours."""
    row = row.reshape(-1)
    if mask is not None:
        row = row[mask]
    kept = row.ne(0).logical_and(row.ne(-100)).nonzero()
    row = row[int(kept[0]):int(kept[-1]) + 1] if len(kept) else row[:0]
    return memory_of(row.float() if row.is_floating_point() else row.long())


def rows_of(tensors, mask=None):
    """The hash of each row of these tensors, whose first extents are the same."""
    found = []
    for i in range(len(tensors[0])):
        row = hashlib.sha256()
        for tensor in tensors:
            own = mask[i].reshape(-1).bool() if mask is not None and mask.shape == tensor.shape else None
            row.update(bytes_of_row(tensor[i], own) + b"|")
        found.append(row.hexdigest())
    return found


class Window:
    """Up to a step, and those behind it. `dealt` are the rows of each micro-batch, `items` what each counts."""

    def __init__(self):
        self.steps, self.backwards, self.rows, self.dealt, self.items = 0, 0, [], [], []
        self.outputs = []  # of models: what is computed is no row; kept, so that no row comes to lie where one lay


class Seen:
    """A window is over where, behind a step, a model is called, a backward pass begins or a batch is dealt. Behind `windows` of
    them `finished()` is told once, and the script ended. `watch` is the window whose gradients are kept, if any: what each
    micro-batch left, and what its first step was handed. `looks_back`: whether it is seen if the script trains at all."""

    def __init__(self, windows, finished, watch=None, looks_back=True):
        self.wanted, self.finished, self.watch, self.looks_back = windows, finished, watch, looks_back
        self.windows, self.window, self.optimizers, self.named, self.before = [], Window(), [], None, None
        self.columns, self.accumulated, self.handed, self.terms, self.places = [], None, None, [], {}
        self.told = self.inside = False
        self.drawn = None  # where the script first draws numbers for a micro-batch

    def drew(self, operation):
        """A number was drawn: by the script, once it trains, or by what deals its rows. Whole numbers choose rows, and those are compared."""
        trains = self.windows or self.window.backwards or self.window.outputs
        if self.drawn or not trains or operation.startswith(("randint", "randperm", "random_")):
            return
        if not any(LOADERS in frame.filename for frame in traceback.extract_stack()):
            self.drawn = {"by": operation, **(here() or {})}

    def optimizer(self, optimizer):
        self.optimizers.append(optimizer)
        SeesSteps(optimizer, Stepped(self, optimizer))

    def watches(self):
        return self.watch == len(self.windows) and self.handed is None

    def goes_on(self):
        """The script, which is ended where it has shown its windows; at once where it did not let itself be ended."""
        if self.window.steps:
            self.close()
        if len(self.windows) < self.wanted:
            return
        if self.told:
            os._exit(0)
        self.told = True
        self.finished()
        raise Enough

    def close(self):
        self.windows.append(self.window)
        self.window = Window()

    def step_begins(self, optimizer):
        if self.before is None and self.looks_back:
            self.before = {name: tensor.clone() for name, tensor in self.tensors().items()}
        if self.watch is not None and not self.window.steps:
            self.handed_to(optimizer)

    def step_ends(self):
        self.window.steps += 1

    def handed_to(self, optimizer):
        """The first step of a window, up to the one that is watched."""
        held = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        gradients = self.gradients({id(parameter) for parameter in held})
        if not self.watches():
            if self.handed is None:
                self.terms.insert(0, (f"window {len(self.windows)}'s gradient", gradients))
            return
        self.handed, self.places["step"] = gradients, here()
        self.columns = [{name: value for name, value in column.items() if name in gradients} for column in self.columns]
        self.accumulated = {name: sum(column[name] for column in self.columns if name in column) for name in gradients}
        parameters, moments = {}, {}
        for name, tensor in self.named.items():
            if name in gradients:
                parameters[name] = flat_of(tensor)
                for key, value in optimizer.state.get(tensor, {}).items():
                    if isinstance(value, torch.Tensor) and value.shape == tensor.shape:
                        moments.setdefault(f"the moments ({key})", {})[name] = flat_of(value)
        self.terms += [("the parameters", parameters), *moments.items()]

    def gradients(self, own=None):
        if self.named is None:
            self.named = names_of(self.optimizers)
        return {name: flat_of(tensor.grad) for name, tensor in self.named.items()
                if tensor.is_leaf and tensor.grad is not None and (own is None or id(tensor) in own)}

    def backward(self, original):
        """In the place of torch.autograd.backward."""
        def backward(*args, **kwargs):
            if self.inside:  # a checkpoint's own, within another
                return original(*args, **kwargs)
            self.goes_on()
            self.inside = True
            watched = self.watches() and self.optimizers
            before = self.gradients() if watched else {}
            try:
                result = original(*args, **kwargs)
            finally:
                self.inside = False
            self.window.backwards += 1
            if watched:
                self.places["backward"] = here()
                self.columns.append({name: value - before[name] if name in before else value
                                     for name, value in self.gradients().items()})
            return result
        return backward

    def model_called(self, module, args, kwargs):
        """Before what the script gives a model is cast."""
        self.goes_on()
        if not torch.is_grad_enabled():
            return
        own = {id(parameter) for optimizer in self.optimizers for group in optimizer.param_groups for parameter in group["params"]}
        if not any(id(parameter) in own for parameter in module.parameters()):
            return
        outputs = {output.data_ptr() for output in self.window.outputs}
        given = [tensor for tensor in tensors_of([list(args), {key: value for key, value in kwargs.items() if "position" not in key}])
                 if tensor.dim() and tensor.numel() and not tensor.requires_grad and tensor.data_ptr() not in outputs]
        if not given:
            return
        rows = rows_of([tensor for tensor in given if len(tensor) == len(given[0])], kwargs.get("attention_mask"))
        self.window.rows += rows
        if len(self.window.dealt) == self.window.backwards:  # what else is called before the backward pass is the same rows
            self.window.dealt.append(len(rows))

    def model_gave(self, result):
        if torch.is_grad_enabled():
            self.window.outputs += [tensor.detach() for tensor in tensors_of(result)]

    def counted(self, items):
        """By a loss of classes."""
        if torch.is_grad_enabled():
            self.window.items += [0] * (self.window.backwards + 1 - len(self.window.items))
            self.window.items[self.window.backwards] += items

    def document(self):
        if self.window.steps:
            self.close()
        return {"steps": [window.steps for window in self.windows], "micro_batches": [window.backwards for window in self.windows],
                "rows": [window.rows for window in self.windows], "dealt": [window.dealt for window in self.windows],
                "items": [window.items for window in self.windows], "optimizers": len(self.optimizers),
                "trained": not self.looks_back or any(not torch.equal(value, self.named[name]) for name, value in (self.before or {}).items())}

    def tensors(self):
        """What the script leaves, as it stands."""
        if self.named is None:
            self.named = names_of(self.optimizers)
        return {name: tensor.detach() for name, tensor in self.named.items()}


def roots_of(trained):
    """The modules that hold what is trained and stand in no other, in the order of what they hold."""
    found = {}
    for module in gc.get_objects():
        if issubclass(type(module), torch.nn.Module):
            places = [trained[id(parameter)] for parameter in module.parameters() if id(parameter) in trained]
            if places:
                found[id(module)] = (min(places), module)
    inner = {id(child) for _, module in found.values() for child in module.modules() if child is not module}
    return [module for key, (_, module) in sorted(found.items(), key=lambda item: item[1][0]) if key not in inner]


def names_of(optimizers):
    """Parameters and buffers of all that is trained, by name."""
    held = [parameter for optimizer in optimizers for group in optimizer.param_groups for parameter in group["params"]]
    roots, found = roots_of({id(parameter): i for i, parameter in enumerate(held)}), {}
    kinds = [type(root).__name__ for root in roots]
    for i, root in enumerate(roots):
        before = f"{kinds[i]}{kinds[:i].count(kinds[i]) or ''}." if len(roots) > 1 else ""
        for name, tensor in [*root.named_parameters(), *root.named_buffers()]:
            while name.startswith(WRAPPERS):
                name = name.partition(".")[2]
            found.setdefault(before + name, tensor)
    named = {id(tensor) for tensor in found.values()}
    for i, parameter in enumerate(held):
        if id(parameter) not in named:
            found[f"parameter {i} of the optimizer"] = parameter
    return found
