"""Copies of an optimizer and of all that its step reads, in any format, which leave the program's own as they are."""
import contextlib
import copy
import math
import random
import sys

import torch

from .errors import CaptureError
from .optimizers import KERNELS, own_function

NOT_COPIED = ("step", "grad_scale", "found_inf")  # what schedules, the recorder and a GradScaler put on the object
BYTES, COPIES = 8, 8  # of an element in float64; of the optimizer, at most at a time, with state that its step makes


def tensors_in(value):
    """All tensors of dicts, lists and tuples."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from tensors_in(key)
            yield from tensors_in(each)
    elif isinstance(value, (list, tuple, set)):
        for each in value:
            yield from tensors_in(each)


def is_pytorchs(optimizer):
    return own_function(type(optimizer)).__module__.startswith("torch.optim")


def stepped(optimizer):
    """Takes the step of a copy, without hooks."""
    own_function(type(optimizer))(optimizer)


def copied(optimizer, cast):
    """The optimizer over copies of its parameters, gradients and state, each of them `cast`. PyTorch's own steps run
    operation by operation, so that their fused kernels are held to something else."""
    memo, held = {}, {key: value for key, value in vars(optimizer).items() if key not in NOT_COPIED}
    scale = getattr(optimizer, "grad_scale", None)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            clone = torch.nn.Parameter(cast(parameter), parameter.requires_grad)
            if parameter.grad is not None:
                clone.grad = cast(parameter.grad) if scale is None else cast(parameter.grad).div_(scale)
            vars(clone).update(vars(parameter))
            memo[id(parameter)] = clone
    for value in tensors_in(held):
        if id(value) not in memo:
            memo[id(value)] = cast(value)
    other = memo[id(optimizer)] = object.__new__(type(optimizer))
    other.__dict__ = copy.deepcopy(held, memo)
    if is_pytorchs(optimizer):
        for group in other.param_groups:
            group.update({key: False for key in (*KERNELS, "capturable") if key in group})
    for group, theirs in zip(other.param_groups, optimizer.param_groups):
        eps = group.get("eps")
        if isinstance(eps, (list, tuple)) and eps[0] is None:  # of Adafactor: that of the parameters' format
            group["eps"] = (torch.finfo(theirs["params"][0].dtype).eps, *eps[1:])
    return other


@contextlib.contextmanager
def same_draws(devices):
    """Leaves the program's random numbers as they were. Those of PyTorch are others in float64: no step may draw them."""
    places = [device for device in devices if device.type == "cuda"]
    python, numpy = random.getstate(), sys.modules["numpy"].random if "numpy" in sys.modules else None
    of_numpy = numpy.get_state() if numpy else None

    def states():
        return [torch.get_rng_state(), *map(torch.cuda.get_rng_state, places)]
    with torch.random.fork_rng(places):
        before = states()
        try:
            yield
        finally:
            random.setstate(python)
            if numpy:
                numpy.set_state(of_numpy)
        if not all(map(torch.equal, before, states())):
            raise CaptureError("it draws random numbers, which are others in float64")


def free_memory():
    """Bytes of the machine that are free; without bound where it does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return math.inf


def require_room(optimizer, devices):
    """The program's own memory stays its own."""
    elements = sum(value.numel() for value in tensors_in(vars(optimizer)))
    elements += sum(value.grad.numel() for group in optimizer.param_groups for value in group["params"] if value.grad is not None)
    for device in ("cpu", *devices):
        free = torch.cuda.mem_get_info(device)[0] if getattr(device, "type", "cpu") == "cuda" else free_memory()
        need = elements * BYTES * COPIES
        if need > free:
            raise CaptureError(f"copies of it in float64 need {need >> 20} MiB, and {free >> 20} are free on {device}")


class Held:
    """The tensors of an optimizer by place: ("p", group, number), or ("s", number of the parameter, name …)."""

    def __init__(self, optimizer, names):
        self.values, self.words = {}, {}
        for i, group in enumerate(optimizer.param_groups):
            for j, parameter in enumerate(group["params"]):
                name = names.get(parameter, f"parameter {j} of group {i}")
                self.take(("p", i, j), parameter, name)
                self.walk(("s", i, j), optimizer.state.get(parameter, {}), name)

    def take(self, place, value, words):
        self.values[place], self.words[place] = value.detach(), words

    def walk(self, place, value, words):
        if isinstance(value, torch.Tensor):
            self.take(place, value, words)
        elif isinstance(value, dict):
            for key, each in value.items():
                self.walk((*place, str(key)), each, f"{words}, {key}")
        elif isinstance(value, (list, tuple)):
            for i, each in enumerate(value):
                self.walk((*place, i), each, f"{words}, {i}")
