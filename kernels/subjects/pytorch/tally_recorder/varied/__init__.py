"""The loop as its own oracle: the same rows, cut into other micro-batches; here the loop that is a function."""
import contextlib
import functools
import inspect

import torch

from ..user_code import CaptureError, generators_kept, held_by, other_generators, seed_all
from .dispatch_modes import Draws, Lifts, MicroBatches, Plan
from .executor import DRAWN_ELSEWHERE, Ended, Executor, can_round, error_of, verdict_of
from .state import (COMPLEX, HALF_ULP, batch_layers, cast, count_of, dealt, hash_of, hold_still, label_of_layer, mapped,
                    moved_by_half_ulps, moved_rows, not_dealt, parts_of, spans_of, tensors_of_state, without_extents)
from .training_steps import Stepped, Uncleared, options_of
from .weights import Items, Weights, of_round

SEEDED_WITHIN = ("the step seeds torch's generator: its draws were still dealt by rows, so that equal draws in its micro-batches are "
                 "not seen")


@contextlib.contextmanager
def computing_in(dtype):
    """New tensors have this format by default."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


class Steps:
    """Sees the steps of all optimizers of a run, window by window."""

    def __init__(self, state, ended):
        self.ended, self.uncleared, self.within = ended, Uncleared(), None  # the optimizer whose step goes on
        for _, optimizer in parts_of(state, torch.optim.Optimizer):
            Stepped(self, optimizer)

    def window(self):
        self.ended.steps.append(0)
        self.ended.options.append([])

    def step_begins(self, optimizer):
        if self.within is optimizer:
            return
        self.within = optimizer
        self.ended.options[-1].append(options_of(optimizer))
        window = len(self.ended.steps) - 1
        if self.uncleared.is_handed(optimizer) and window not in self.ended.uncleared:
            self.ended.uncleared.append(window)

    def evaluated(self):
        """A closure that one step evaluates several times is one step."""

    def step_ends(self, optimizer):
        self.within = None
        self.ended.steps[-1] += 1
        self.uncleared.stepped(optimizer)

    @contextlib.contextmanager
    def running(self):
        """Backward passes are seen inside of it."""
        original = torch.autograd.backward
        torch.autograd.backward = self.uncleared.around(original)
        try:
            yield
        finally:
            torch.autograd.backward = original


class Function(Executor):
    """What a user gives: `step`, `make` and `data`."""

    def __init__(self, step, make, data, rows, windows, seed):
        super().__init__(rows, windows, seed)
        self.step, self.make, self.data = step, make, data
        self.first, self.lifts, self.plans, self.of_gradients = None, None, {}, Weights(self)
        for name, value, least in (("rows", rows, 2), ("windows", windows, 1)):
            if not isinstance(value, int) or value < least:
                raise CaptureError(f"vary: found {name}={value!r}, expected a whole number of at least {least}; pass another")
        if inspect.isgeneratorfunction(inspect.unwrap(getattr(step, "func", step))):
            raise CaptureError("vary: found a step that yields, expected one that trains a window when it is called; call all of it")
        for window in range(windows):
            if not_dealt(self.drawn(window), rows):
                raise CaptureError(f"vary: found {not_dealt(self.drawn(window), rows)} in data({window}), expected rows as tensors, which "
                                   "can be cut; make a tensor of them")
            found = count_of(self.drawn(window))
            if found != rows:
                raise CaptureError(f"vary: found {found or 'no'} rows in data({window}), expected {rows} in the first extent of "
                                   "every tensor; pass rows=, or give the rows of one window")

    def loop(self):
        function = inspect.unwrap(getattr(self.step, "func", self.step))
        code = getattr(function, "__code__", None)
        name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__name__)}"
        return {"name": name, "file": code and code.co_filename, "line": code and code.co_firstlineno, "kind": "function",
                "torch": torch.__version__}

    def made(self, dtype, moved=None):
        """What `make` builds from the seed, cast; `moved` changes each floating tensor."""
        seed_all(self.seed)
        state = self.make()
        if without_extents(state):
            raise without_extents(state)
        tensors = tensors_of_state(state)
        if not any(tensor.is_floating_point() or tensor.is_complex() for tensor in tensors.values()):
            raise CaptureError(f"vary: found no model and no tensor in what `make` gives ({type(state).__name__}), expected the "
                               "models and optimizers of the loop in a dict or a list; return them")
        held = [value for _, optimizer in parts_of(state, torch.optim.Optimizer) for of_one in optimizer.state.values()
                for value in of_one.values() if isinstance(value, torch.Tensor)]  # what some make before their first step
        with torch.no_grad():
            cast(tensors.values(), dtype, moved)
            cast(held, dtype)
        return state

    def drawn(self, window):
        with generators_kept():
            seed_all(self.seed + 1 + window)
            return self.data(window)

    def ended(self, ask):
        """The run that is asked for."""
        first, self.first = self.first, None
        if first and self.is_whole(ask) and not (ask["moved"] or ask["frozen"]):
            return first
        spans = [spans_of(ask["sizes"], self.rows)] * self.windows
        moved = moved_by_half_ulps(ask["moved"], HALF_ULP[ask["moved_by"] or self.precisions[-1]]) if ask["moved"] else None
        return self.trained(getattr(torch, ask["precision"]), spans, moved, tuple(ask["frozen"]))

    def weights(self, ask):
        return self.of_gradients.of(ask)

    def head(self):
        self.settle()
        return super().head()

    def settle(self):
        """Finds out in which format the step runs, what it does to formats, what it draws at random, and whether that can be
        dealt by rows. What is not needed for that is left out of all runs."""
        errors = []
        for precision in self.precisions:
            if self.is_dealt(getattr(torch, precision), True) or self.is_dealt(getattr(torch, precision), False):
                break
            errors.append(self.first.error)
        if len(errors) == len(self.precisions):  # what sees the operations may be the cause: without it
            self.first, self.plans, self.lifts = None, {}, None
            return
        if errors:
            self.precisions = self.precisions[1:]
            self.notes.append(f"float64 cannot be had ({errors[0]['type']}: {errors[0]['text']})")
        plan = self.plans[False]
        self.lifts = self.lifts if self.lifts.found else None
        if plan.dealt:
            self.notes.append(f"draws by {', '.join(sorted(plan.dealt))} were dealt by rows: every row has the same numbers in "
                              "any micro-batch")
        if not (plan.drawn or plan.mean):
            self.plans = {}
        if not self.plans and not self.lifts:
            self.first = None

    def is_dealt(self, dtype, dropout):
        """Whether the whole batch comes to its end, and all draws can be dealt."""
        whole, cut = ([spans_of(sizes, self.rows)] * self.windows for sizes in (None, (1, self.rows - 1)))
        self.plans, self.lifts = {False: Plan(dropout), True: Plan(False)}, Lifts(dtype)
        self.first, plan = self.trained(dtype, whole), self.plans[False]
        if self.first.error:
            return False
        if plan.drawn:
            self.trained(torch.float32, cut[:1])
        if plan.undealt:
            undealt = ", ".join(sorted(plan.undealt))
            if not dropout:
                raise CaptureError(f"vary: found a step whose draws by {undealt} cannot be dealt by rows, expected numbers whose "
                                   "one extent is in proportion to the rows; draw them in `data`")
            self.notes.append(f"dropout was off: draws by {undealt} cannot be dealt by rows")
        return not plan.undealt

    def trained(self, dtype, spans, moved=None, frozen=(), watch=None):
        """The loop on the rows of these spans, window by window. `watch` is told of the state and of each window."""
        ended, drawn = Ended(), []
        with generators_kept():
            state = self.made(dtype, moved)
            layers = batch_layers(parts_of(state, torch.nn.Module))
            self.layers = [label_of_layer(*layer) for layer in layers]
            for _, layer in layers if "batch_norm" in frozen else ():
                hold_still(layer, dtype)
            before = {name: (tensor.shape, None if self.wholes else tensor.detach().clone()) for name, tensor in tensors_of_state(state).items()}
            steps = Steps(state, ended)
            if watch:
                watch.begins(tensors_of_state(state), [optimizer for _, optimizer in parts_of(state, torch.optim.Optimizer)])
            for window, own in enumerate(spans):
                drawn.append(self.drawn(window))
                rows = mapped(drawn[-1], lambda tensor: self.cast(tensor, dtype, moved))
                micro_batches, modes = dealt(rows, own), contextlib.ExitStack()
                if self.plans:
                    draws = Draws(self.plans["dropout" in frozen], window, rows, own, self.rows, self.seed)
                    micro_batches = MicroBatches(micro_batches, modes.enter_context(draws))
                steps.window()
                ended.micro_batches.append(len(own))
                if watch:
                    watch.window()
                seed_all(self.seed + 1000 + window)
                before_step = other_generators()
                if self.lifts and dtype == self.lifts.dtype:
                    modes.enter_context(self.lifts)
                with modes, steps.running(), Items() as items:
                    ended.error = self.stepped(state, micro_batches, dtype)
                ended.items.append(items.of(rows, own))
                ended.places.append(of_round(items.places, len(own)))
                if other_generators() != before_step:
                    self.note(DRAWN_ELSEWHERE)
                if self.plans and torch.initial_seed() != self.seed + 1000 + window:
                    self.note(SEEDED_WITHIN)
                if ended.error:
                    break
        ended.rows_hash = hash_of(drawn)
        self.keep(ended, state, tensors_of_state(state), before)
        return ended

    def keep(self, ended, state, tensors, before):
        """Keeps what the run left of the tensors that were there before. What is made on the way, such as a list of
        losses, has another length with other micro-batches."""
        kept = {name: tensor for name, tensor in tensors.items() if name in before and tensor.shape == before[name][0]}
        for name in sorted(tensors.keys() - kept.keys())[:1]:
            self.note(f"not compared: tensors that the loop makes as it goes, or anew with other extents ({name})")
        ended.tensors = {name: tensor.detach().clone() for name, tensor in kept.items()}
        held = {id(parameter) for _, optimizer in parts_of(state, torch.optim.Optimizer) for parameter in held_by(optimizer)}
        ended.stepped = {name for name, tensor in kept.items() if id(tensor) in held}
        if not self.wholes:
            ended.trained = any(can_round(tensor) and not torch.equal(tensor, before[name][1]) for name, tensor in kept.items())

    @staticmethod
    def cast(tensor, dtype, moved):
        if not (tensor.is_floating_point() or tensor.is_complex()):
            return tensor.contiguous()
        value = tensor.detach().to(COMPLEX[dtype] if tensor.is_complex() else dtype).contiguous()
        return moved_rows(value, moved) if moved else value

    def stepped(self, state, micro_batches, dtype):
        """What ended the step early, if anything did."""
        try:
            with computing_in(dtype):
                self.step(state, micro_batches)
        except CaptureError:
            raise
        except Exception as problem:  # pylint: disable=broad-except
            return error_of(problem)
        return None


def equivalence(**options):
    """Makes a test of a step, for pytest and for unittest: it fails where `vary(step, **options)` does."""
    def test_of(step):
        def test(*own):
            __tracebackhide__ = True  # pytest leaves this frame out
            vary(functools.partial(step, *own), **options).raise_if_failed()
        functools.update_wrapper(test, step)
        del test.__wrapped__  # pytest takes the arguments of what stands there for fixtures
        return test
    return test_of


def vary(step, *, make, data, rows=8, windows=2, seed=0, out=None, tally=None):
    """Runs `step(state, micro_batches)` on the same rows in several partitions. `make()` builds models and optimizers from
    torch's seed, `data(window)` gives the rows of one window. Says nothing of bugs that all partitions share."""
    return verdict_of(Function(step, make, data, rows, windows, seed), out, tally)
