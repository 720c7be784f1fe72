"""One run of a loop: what `make` builds, cast to a precision, trained on rows that are dealt in one way."""
import contextlib
import traceback

import torch

from ..errors import CaptureError
from ..steps import SeesSteps
from .rows import dealt, mapped


@contextlib.contextmanager
def computing_in(dtype):
    """New tensors have this format by default."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def parts_of(state, kinds, name=""):
    """(name, part) of all modules, optimizers and tensors that `make` gave, in dicts and lists."""
    if isinstance(state, kinds):
        yield name, state
    elif isinstance(state, dict):
        for key, value in state.items():
            yield from parts_of(value, kinds, f"{name}.{key}" if name else str(key))
    elif isinstance(state, (list, tuple)):
        for i, value in enumerate(state):
            yield from parts_of(value, kinds, f"{name}.{i}" if name else str(i))


def tensors_of_state(state):
    """By name: parameters and buffers of the modules, and tensors beside them."""
    found = {}
    for name, module in parts_of(state, torch.nn.Module):
        for own, tensor in [*module.named_parameters(), *module.named_buffers()]:
            found[f"{name}.{own}" if name else own] = tensor
    for name, tensor in parts_of(state, torch.Tensor):
        found.setdefault(name, tensor)
    return found


class Handed:
    """The gradients that the first step of all is handed, by parameter."""

    def __init__(self, state):
        self.gradients, self.names = None, {id(tensor): name for name, tensor in tensors_of_state(state).items()}
        for _, optimizer in parts_of(state, torch.optim.Optimizer):
            SeesSteps(optimizer, Step(self, optimizer))


class Step:
    """Of one optimizer."""

    def __init__(self, handed, optimizer):
        self.handed, self.optimizer = handed, optimizer

    def step_begins(self):
        if self.handed.gradients is None:
            self.handed.gradients = {self.handed.names.get(id(parameter)): parameter.grad.detach().clone()
                                     for group in self.optimizer.param_groups for parameter in group["params"]
                                     if parameter.grad is not None}

    def step_ends(self):
        pass


class Loop:
    """What a user gives: `make`, `data` and `step`."""

    def __init__(self, step, make, data, seed=0):
        self.step, self.make, self.data, self.seed = step, make, data, seed

    def made(self, dtype, moved=None):
        """What `make` builds from the seed, cast; `moved` changes each floating tensor."""
        torch.manual_seed(self.seed)
        state = self.make()
        with torch.no_grad():
            for tensor in tensors_of_state(state).values():
                if tensor.is_floating_point():
                    value = tensor.detach().to(dtype)
                    tensor.data = moved(value) if moved else value
        for _, optimizer in parts_of(state, torch.optim.Optimizer):
            for held in optimizer.state.values():  # what some make before their first step
                for name, value in held.items():
                    if isinstance(value, torch.Tensor) and value.is_floating_point():
                        held[name] = value.to(dtype)
        return state

    def rows(self, window, dtype, moved=None):
        def cast(tensor):
            if not tensor.is_floating_point():
                return tensor
            value = tensor.detach().to(dtype)
            return moved(value) if moved else value
        torch.manual_seed(self.seed + 1 + window)
        return mapped(self.data(window), cast)

    def stepped(self, state, micro_batches, sizes, dtype):
        try:
            self.step(state, micro_batches)
        except Exception as problem:
            frame = traceback.extract_tb(problem.__traceback__)[1:2]
            place = f" at {frame[0].filename}:{frame[0].lineno}" if frame else ""
            how = f"micro-batches of {', '.join(map(str, sizes))} rows" if sizes else "the whole batch"
            raise CaptureError(f"vary: found {type(problem).__name__}{place} ({' '.join(str(problem).split())[:200]}) with {how} in "
                               f"{str(dtype).rpartition('.')[2]}, expected a step that runs; a model that `make` does not "
                               "return stays in its own format") from problem

    def run(self, windows, sizes, dtype, moved=None, watch=False):
        """The tensors that are left, by name; with `watch` what the first step was handed as well. `sizes` of each
        window's micro-batches, or None: the whole at once."""
        state = self.made(dtype, moved)
        handed = Handed(state) if watch else None
        for window in range(windows):
            rows = self.rows(window, dtype, moved)
            micro_batches = [rows] if sizes is None else dealt(rows, sizes)
            torch.manual_seed(self.seed + 1000 + window)
            with computing_in(dtype):
                self.stepped(state, micro_batches, sizes, dtype)
        left = {name: tensor.detach().clone() for name, tensor in tensors_of_state(state).items()}
        return (left, handed.gradients) if watch else left


def distance(a, b):
    """The largest difference of any tensor, relative to its largest element, and whose it is."""
    if a.keys() != b.keys():
        raise CaptureError(f"vary: found other tensors in two runs ({sorted(a.keys() ^ b.keys())[0]}), expected the same; "
                           "make what the loop keeps in `make`")
    worst, whose = 0.0, None
    for name, value in a.items():
        if not value.is_floating_point() or not value.numel():
            continue
        one, two = value.double(), b[name].double()
        if not bool(torch.isfinite(one).all() and torch.isfinite(two).all()):
            return float("nan"), name
        scale = float(two.abs().max())
        far = float((one - two).abs().max()) / scale if scale else float((one - two).abs().max())
        if far > worst:
            worst, whose = far, name
    return worst, whose
