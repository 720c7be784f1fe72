"""What is seen of a script while it trains: its optimizers' steps, its windows, its micro-batches and their rows."""
import collections
import os
import traceback

import torch

from ..user_code import Enough, held_by, here
from .casts import held_by_all, named_of, sums_of
from .loaders import Batch, Dealt, rows_of
from .state import tensors_of
from .training_steps import Stepped, Uncleared, flat_of, is_there, options_of

LOADERS = os.path.join(os.path.dirname(torch.__file__), "utils", "data") + os.sep


class Rows:
    """The rows of each micro-batch as {key: hash}; a key that begins with None is of a further call, whose rows are the
    same once more."""

    def __init__(self):
        self.of = []

    def add(self, at, rows):
        self.of += [{} for _ in range(at + 1 - len(self.of))]
        self.of[at].update(rows)

    def all(self):
        return [row for rows in self.of for row in rows.values()]

    def repeated(self):
        """(how many rows of a loader are in the most micro-batches, how many these are)."""
        times = collections.Counter(key for rows in self.of for key in rows if isinstance(key[0], Batch))
        most = max(times.values(), default=0)
        return sum(count == most for count in times.values()), most

    def counts(self):
        return [sum(key[0] is not None for key in rows) for rows in self.of]


class Window:
    """A window up to its step, and the steps behind it. `dealt` are rows that a loader dealt and a model was given,
    `met` those that met parameters without one, `given` what models were given of no loader; `items` what each
    micro-batch counts."""

    def __init__(self):
        self.steps, self.backwards, self.items, self.options, self.uncleared, self.left_over = 0, 0, [], [], False, None
        self.dealt, self.met, self.given = Rows(), Rows(), Rows()
        self.outputs = []  # what models gave is no row; kept, so that no row comes to lie where one lay

    def rows(self):
        return next((rows for rows in (self.dealt, self.met) if rows.of), self.given)

    def ends_an_epoch(self):
        """Whether its last micro-batch is of a later epoch of a loader than those before it."""
        if len(self.dealt.of) != self.backwards:
            return False
        *before, last = [{batch.loader: batch.epoch for batch, _ in rows} for rows in self.dealt.of]
        return any(last.get(loader, epoch) > epoch for epochs in before for loader, epoch in epochs.items())

    def leaves_over(self, lost):
        """All but the last micro-batch are of an epoch that ended: as if they had not been, where they were lost."""
        self.left_over = {"rows": len({key for rows in self.dealt.of[:-1] for key in rows}), "lost": lost}
        if lost:
            self.backwards, self.dealt.of, self.met.of, self.items = 1, self.dealt.of[-1:], self.met.of[-1:], self.items[-1:]


class Seen:
    """A window is over where a model is called, a backward pass begins or a batch is dealt behind a step. `finished()`
    is told once behind `windows` of them, and the script ended. `watch` is the window whose gradients are kept, if any:
    what each micro-batch left, and what its first step was handed. `looks_back`: whether it is seen if the script
    trains at all."""

    def __init__(self, windows, finished, watch=None, looks_back=True, local=None):
        self.local = local  # what a rank's own backward passes bring
        self.begins = {}  # sums of each parameter at a rank's first step
        self.wanted, self.finished, self.watch, self.looks_back = windows, finished, watch, looks_back
        self.windows, self.window, self.optimizers = [], Window(), []
        self.named, self.beside, self.before, self.sums = None, {}, None, {}
        self.dealt, self.uncleared, self.called = Dealt(), Uncleared(), None
        self.asked_for_rows = 0  # how often a loader was
        self.lonely = lambda: None  # is told before modules are looked for
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
        Stepped(self, optimizer)
        if self.local and self.watch is not None:
            self.local.listen(optimizer)

    def watches(self):
        return self.watch == len(self.windows) and self.handed is None

    def goes_on(self):
        """Ends the script where it has shown its windows, at once where it did not let itself be ended."""
        if self.window.steps:
            self.close()
        if len(self.windows) < self.wanted:
            return
        if self.told:
            os._exit(0)
        self.told = True
        self.finished()
        raise Enough

    def has_shown(self):
        """Whether it is behind the step of its last window."""
        return bool(self.window.steps) and len(self.windows) + 1 >= self.wanted

    def close(self):
        self.windows.append(self.window)
        self.window = Window()
        self.dealt.next_window()

    def step_begins(self, optimizer):
        self.places.setdefault("step", here())
        self.window.options.append(options_of(optimizer))
        self.window.uncleared = self.window.uncleared or self.uncleared.is_handed(optimizer)
        self.find()  # now: a script that ends behind this window leaves no modules
        if self.local and not self.begins:
            self.begins = sums_of({name: self.named[name] for name in self.stepped()})
        if self.before is None and self.looks_back:
            self.before = {name: tensor.clone() for name, tensor in self.tensors().items()}
            self.sums = sums_of(self.beside)
        if self.watch is not None and not self.window.steps:
            self.handed_to(optimizer)

    def step_ends(self, optimizer):
        self.window.steps += 1
        self.uncleared.stepped(optimizer)

    def handed_to(self, optimizer):
        """Keeps what the first step of a window is handed, up to the window that is watched."""
        gradients = self.gradients(set(map(id, held_by(optimizer))))
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
        self.find()
        return {name: flat_of(tensor.grad) for name, tensor in self.named.items()
                if tensor.is_leaf and tensor.grad is not None and (own is None or id(tensor) in own)}

    def backward(self, original):
        """Stands in for torch.autograd.backward."""
        def backward(*args, **kwargs):
            if self.inside:  # a checkpoint's own, within another
                return original(*args, **kwargs)
            self.goes_on()
            self.inside = True
            cleared = bool(self.window.backwards) and not self.window.steps and not any(map(is_there, held_by_all(self.optimizers)))
            watched = self.watches() and self.optimizers
            before = self.gradients() if watched else {}
            if self.local:
                self.local.arrived.clear()
            self.uncleared.backward_begins()
            try:
                result = original(*args, **kwargs)
            finally:
                self.inside = False
            self.uncleared.backward_ends()
            self.window.backwards += 1
            if watched:
                self.places["backward"] = here()
                self.columns.append(self.local.taken(self.named) if self.local else {
                    name: value - before[name] if name in before else value for name, value in self.gradients().items()})
            if not self.window.left_over and not self.window.steps and self.window.ends_an_epoch():
                self.window.leaves_over(cleared)
                self.columns = self.columns[-1:] if cleared else self.columns
            return result
        return backward

    def model_called(self, module, args, kwargs):
        """Hears of a call before what the model is given is cast. That is `called`, until the output is seen."""
        self.goes_on()
        self.called = None
        own = set(map(id, held_by_all(self.optimizers)))
        if not any(id(parameter) in own for parameter in module.parameters()):
            return
        outputs = {output.data_ptr() for output in self.window.outputs}
        given = [tensor for tensor in tensors_of([list(args), {key: value for key, value in kwargs.items() if "position" not in key}])
                 if tensor.dim() and tensor.numel() and not tensor.requires_grad and tensor.data_ptr() not in outputs]
        rows = self.dealt.given_to_model(given, (self.asked_for_rows, len(self.windows), self.window.backwards))
        if not torch.is_grad_enabled():
            return
        if not rows and given and not self.window.dealt.of:
            of_one = rows_of([tensor for tensor in given if len(tensor) == len(given[0])], kwargs.get("attention_mask"))
            rows = {(module, i): row for i, row in enumerate(of_one)}
        self.called = rows

    def model_gave(self, result):
        """What a model was given counts where a backward pass comes to what it gave."""
        rows, self.called = self.called, None
        if not torch.is_grad_enabled():
            return
        outputs = list(tensors_of(result))
        self.window.outputs += [tensor.detach() for tensor in outputs]
        behind = [tensor for tensor in outputs if tensor.grad_fn is not None]
        for tensor in behind if rows else ():
            tensor.register_hook(lambda _: self.trains_on(rows))
        if rows and not behind:
            self.trains_on(rows)

    def trains_on(self, rows):
        window, at = self.window, self.window.backwards
        if isinstance(next(iter(rows))[0], Batch):
            window.dealt.add(at, rows)
        elif len(window.given.of) <= at or rows.keys() <= window.given.of[at].keys():
            window.given.add(at, rows)
        else:  # what else is called for the same rows
            window.given.add(at, {(None, *key): row for key, row in rows.items()})

    def read(self, given, result, in_place):
        """Hears of an operation outside of models: what meets parameters there is trained on, else the result holds
        what was given."""
        if self.inside or not self.dealt.places:
            return
        given = list(tensors_of(given))
        free = [tensor for tensor in given if not tensor.requires_grad]
        if len(free) == len(given):
            self.dealt.computed(given, result, in_place)
        elif torch.is_grad_enabled():
            rows = self.dealt.rows_in(free)
            if rows:
                self.window.met.add(self.window.backwards, rows)

    def counted(self, items):
        """Counts the items of a loss of classes."""
        if torch.is_grad_enabled():
            self.window.items += [0] * (self.window.backwards + 1 - len(self.window.items))
            self.window.items[self.window.backwards] += items

    def document(self):
        if self.window.steps:
            self.close()
        windows = self.windows
        return {"steps": [window.steps for window in windows], "micro_batches": [window.backwards for window in windows],
                "rows": [window.rows().all() for window in windows], "dealt": [window.rows().counts() for window in windows],
                "repeated": [window.rows().repeated() for window in windows], "items": [window.items for window in windows],
                "options": [window.options for window in windows], "uncleared": [i for i, window in enumerate(windows) if window.uncleared],
                "left_over": [{"window": i, **window.left_over} for i, window in enumerate(windows) if window.left_over],
                "optimizers": len(self.optimizers), "begins": self.begins, "places": self.places, "drawn": self.drawn,
                "trained": not self.looks_back or any(not torch.equal(value, self.named[name]) for name, value in (self.before or {}).items())}

    def find(self):
        if self.named is None:
            self.lonely()
            self.named, self.beside = named_of(self.optimizers)

    def changed(self):
        """Names of tensors beside what is trained that are others than before the first step."""
        return [name for name, sums in sums_of(self.beside).items() if sums != self.sums.get(name, sums)]

    def stepped(self):
        """Names of what the optimizers step."""
        held = set(map(id, held_by_all(self.optimizers)))
        return {name for name, tensor in self.named.items() if id(tensor) in held}

    def tensors(self, beside=()):
        """What the script leaves: of what is trained, and these others."""
        self.find()
        left = {**self.named, **{name: self.beside[name] for name in beside if name in self.beside}}
        return {name: tensor.detach() for name, tensor in left.items()}
