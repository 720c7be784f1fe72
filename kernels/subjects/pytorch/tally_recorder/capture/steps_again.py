"""A step that no case states is judged by itself: it is run again in float64, on copies of all that it read.

Rounding shrinks with the format, an error of meaning does not, as `vary` has it. How far rounding can
take the step is measured: two more runs in float64, in which every operation's result is moved at random by half an ulp of
the format that the loop computes in. How far apart these three runs end is the noise n. An error of meaning is as large as
the update s, or, where rounding swallows that, as the value itself. The boundary is the geometric middle of n and s: what the
loop's step left further than that from float64 is wrong. A run in the loop's own format tells where it is.

This shows that the step is its own float64 self: no kernel, no state and no other code got in its way. That its algorithm
and its options are those that were meant is not asked."""
import contextlib
import inspect
import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ..ranks import several
from ..report import counted
from ..user_code import CaptureError, held_by, unseen
from .optimizers import Held, copied, is_pytorchs, own_function, same_draws, stepped, tensors_in

HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
BYTES, COPIES = 8, 8  # an element in float64; copies of the optimizer at a time, with state that its step makes
WIDE = {True: torch.complex128, False: torch.float64}


def unit(dtype):
    """Half an ulp, relative."""
    return torch.finfo(dtype).eps / 2


def is_rounded(value):
    return value.is_floating_point() or value.is_complex()


def widened(value):
    return value.detach().to(WIDE[value.is_complex()]).clone() if is_rounded(value) else value.detach().clone()


class Rounding(TorchDispatchMode):
    """Moves every result of an operation at random by half an ulp of `dtype`, or of its own format where that is coarser."""

    def __init__(self, dtype, seed):
        super().__init__()
        self.unit, self.seed, self.drawn = unit(dtype), seed, {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        named = kwargs or {}
        for i, argument in enumerate(function._schema.arguments):
            if argument.alias_info is not None and argument.alias_info.is_write:
                self.move(args[i] if i < len(args) else named.get(argument.name))
        if not any(returned.alias_info is not None for returned in function._schema.returns):
            self.move(result)
        return result

    def move(self, value):
        if isinstance(value, (list, tuple)):
            for each in value:
                self.move(each)
        elif isinstance(value, torch.Tensor) and is_rounded(value) and not value.is_sparse and value.numel():
            own = unit(value.dtype)
            by = max(self.unit, 2 * own if own > unit(torch.float64) else 0)  # a whole ulp, where the result is rounded again
            value.copy_(value.to(WIDE[value.is_complex()]) * (1 + by * self.draw(value)))

    def draw(self, value):
        if value.device not in self.drawn:
            self.drawn[value.device] = torch.Generator(value.device).manual_seed(self.seed)
        return torch.rand(value.shape, generator=self.drawn[value.device], dtype=torch.float64, device=value.device) * 2 - 1


def far(one, other):
    """The largest difference of two tensors; infinite where one is not finite and the other is."""
    one, other = widened(one).cpu(), widened(other).cpu()
    if one.shape != other.shape:
        return math.inf
    if not one.numel():
        return 0.0
    both = (one == other) | (one != one) & (other != other)
    difference = torch.where(both, torch.zeros_like(one), one - other).abs().max()
    return math.inf if bool(difference != difference) else float(difference)


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
    elements += sum(value.grad.numel() for value in held_by(optimizer) if value.grad is not None)
    for device in ("cpu", *devices):
        free = torch.cuda.mem_get_info(device)[0] if getattr(device, "type", "cpu") == "cuda" else free_memory()
        need = elements * BYTES * COPIES
        if need > free:
            raise CaptureError(f"copies of it in float64 need {need >> 20} MiB, and {free >> 20} are free on {device}")


class Again:
    """One step, run again before the loop takes it."""

    def __init__(self, optimizer, names):
        self.optimizer, self.names = optimizer, names
        self.devices, dtype = {parameter.device for parameter in names}, max((parameter.dtype for parameter in names), key=unit)
        require_room(optimizer, self.devices)
        self.dtype, self.exact, self.known = dtype, self.run(widened), {}
        first, second = (self.run(widened, Rounding(dtype, seed)) for seed in (1, 2))
        own, before = self.run(lambda value: value.detach().clone()), Held(optimizer, names).values
        for place, exact in self.exact.items():
            noise = max(far(exact, first[place]), far(exact, second[place]), far(first[place], second[place]))
            nothing = torch.zeros_like(exact)
            began = before.get(place, nothing)
            update = far(exact, began if began.shape == exact.shape else nothing)
            self.known[place] = far(own[place], exact), noise, update if update > noise else far(exact, nothing), update, place[0] == "p"

    def run(self, cast, mode=contextlib.nullcontext()):
        with same_draws(self.devices):
            other = copied(self.optimizer, cast)
            with mode:
                stepped(other)
        return {place: value.cpu() for place, value in Held(other, {}).values.items()}

    def compared(self):
        """For each tensor that the loop's step left: what it is; how far it is from float64, and the run in its own
        format; what rounding explains; the size of its update, or of itself where that is lost in rounding; its update;
        and whether it is a parameter."""
        now = Held(self.optimizer, self.names)
        for place, value in now.values.items():
            yield (now.words[place], far(value, self.exact[place]), *self.known[place])


def evaluates(optimizer):
    """Whether no step is without a closure, as of LBFGS."""
    closure = inspect.signature(own_function(type(optimizer))).parameters.get("closure")
    return closure is not None and closure.default is closure.empty


def in_a_line(problem):
    kind = "" if isinstance(problem, CaptureError) else f"{type(problem).__name__}: "
    return kind + " ".join(str(problem).split())[:200]


class Shown:
    """What the steps of one stretch of windows showed."""

    def __init__(self):
        self.begun, self.steps, self.wrong, self.why_not = 0, 0, False, None
        self.lost, self.ends, self.noise, self.share = {}, 0.0, 0.0, 0.0


class StepsAgain:
    """The steps of one capture, each run again; `report` is told what is wrong."""

    def __init__(self, reads, report):
        self.reads, self.report, self.again, self.shown = reads, report, None, {}  # by the stretch's first window

    @unseen
    def begins(self, first):
        """Runs the step again, before the loop takes it."""
        shown, optimizer = self.shown.setdefault(first, Shown()), self.reads.keeps
        self.again, shown.begun = None, shown.begun + 1
        if evaluates(optimizer):
            shown.why_not = "it evaluates the loop's closure within itself (each time a step here), which the loop alone can do"
        if any(getattr(optimizer, hooks, None) for hooks in HOOKS):
            shown.why_not = "hooks run in it (register_step_pre_hook, register_step_post_hook)"
        if any(hasattr(parameter, "to_local") for parameter in self.reads.names):
            shown.why_not = "each rank holds rows of the parameters alone"
        if several() and not is_pytorchs(optimizer):
            shown.why_not = "it may talk to other ranks"
        if shown.why_not is not None:
            return
        try:
            self.again = Again(optimizer, self.reads.names)
        except Exception as problem:  # pylint: disable=broad-except
            shown.why_not = in_a_line(problem)

    @unseen
    def ends(self, first, window):
        """Compares what the loop's step left."""
        again, self.again = self.again, None
        if again is None:
            return
        shown = self.shown[first]
        try:
            compared = list(again.compared())
        except Exception as problem:  # pylint: disable=broad-except
            shown.why_not = in_a_line(problem)
            return
        shown.steps += 1
        for what, ends, own, noise, size, update, is_parameter in compared:
            middle = max(noise, math.sqrt(noise * size))
            if ends > middle and (is_parameter or own <= middle):  # state may be kept otherwise in another format
                shown.wrong = True
                self.wrong(window, again, what, ends, own, noise, size)
            elif is_parameter and 0 < update <= noise:
                shown.lost[what] = True
            elif is_parameter and update:
                share = math.sqrt(noise / size)
                shown.ends, shown.noise, shown.share = max(shown.ends, ends), max(shown.noise, noise), max(shown.share, share)

    def wrong(self, window, again, what, ends, own, noise, size):
        dtype = str(again.dtype).rpartition(".")[2]
        if own > math.sqrt(noise * size):
            why = f"the same code run again in {dtype} ends {own:.2g} from it: its arithmetic there is wrong or too coarse"
        else:
            why = (f"the same code run again in {dtype} ends {own:.2g} from it: a kernel (foreach, fused) is wrong, or other code "
                   "writes to parameters or state while it steps")
        self.report.add(self.report.wrong_lines, "a step", f"window {window}, the step of {self.reads.name}: {what} ends {ends:.2g} "
                        f"from the same step in float64, where rounding explains {noise:.2g}; {why}")

    def lines(self, first, why):
        """What was shown of the steps that no case states, `why` none does."""
        shown = self.shown.get(first, Shown())
        if shown.wrong:
            return []
        if shown.why_not is not None:
            return [f"not judged: the optimizer's step ({why}, and {shown.steps} of {shown.begun} steps could be run again by themselves: "
                    f"{shown.why_not})"]
        if not shown.share:
            return [f"not judged: the optimizer's step ({why}, and " + ("all that it changes is lost in its rounding)" if shown.lost else
                    "no step of it was recorded)")]
        lost = f"; what it changes of {counted(next(iter(shown.lost)), len(shown.lost) - 1)} is lost in its rounding" if shown.lost else ""
        return [f"not judged: the optimizer's algorithm ({why}, so that each of {shown.steps} steps was run again by itself, in "
                f"float64: the loop's end within {shown.ends:.2g}, where rounding explains {shown.noise:.2g}, and an error of "
                f"{100 * shown.share:.2g} % of a tensor's change would show{lost}; a wrong algorithm or rate would not)"]
