"""The recorders that `Recorder` makes of other loops: one for each of several optimizers, as a GAN has them, and one of the steps
alone where parameters are in formats that no case has."""
import functools
import os

import torch

from .capture.optimizers import ReadsOptimizer
from .capture.steps import SeesSteps
from .capture.steps_again import StepsAgain
from .capture.windows import Plan
from .recipe import Meaning
from .report import Report
from .user_code import CaptureError, Guard, held_by, in_one_line, unseen
from .verdict import worst


def takes_steps(recorder):
    return recorder.taken > 0 if isinstance(recorder, StepsAlone) else recorder.capture.takes_steps


class Several:
    """A loop with several optimizers, as of a GAN, `Recorder(models, [optimizer, …], …)`: a recorder of each optimizer,
    under the model with most of its parameters. Backward passes belong to the step that follows them."""

    def __init__(self, recorder, models, optimizers, micro_batches, **options):
        models = list(models) if isinstance(models, (list, tuple)) else [models]
        for kind, found, expected in (("model", models, torch.nn.Module), ("optimizer", optimizers, torch.optim.Optimizer)):
            wrong = [type(each).__name__ for each in found if not isinstance(each, expected)]
            if wrong or not found:
                raise CaptureError(f"{kind}: found {wrong[0] if wrong else 'none'} in a list, expected {expected.__name__}s alone; pass "
                                   "Recorder([model, …], [optimizer, …], …)")
        self.recorders = []
        for optimizer in optimizers:
            held = set(map(id, held_by(optimizer)))
            model = max(models, key=lambda each: sum(id(parameter) in held for parameter in each.parameters()))
            self.recorders.append(recorder(model, optimizer, micro_batches, **options))
            if self.recorders[-1].ranks:
                raise CaptureError("optimizer: found several beside ranks, expected one; record each in a run of its own")
        self.names = [f"{i}-{type(optimizer).__name__}" for i, optimizer in enumerate(optimizers)]
        of_cases = [each for each in self.recorders if isinstance(each, recorder)]
        for own, each in ((name, each) for name, each in zip(self.names, self.recorders) if each in of_cases):
            others = [other for other in self.recorders if other is not each]
            each.capture.others = [functools.partial(other.capture.guard.tried, other.capture.other_steps, own) for other in others
                                   if other in of_cases]
            each.outside.leave({id(parameter) for other in others for parameter in held_by(other.optimizer)})

    def __enter__(self):
        for each in self.recorders:
            each.__enter__()
        return self

    def attach(self, clips=None):
        """As Recorder.attach."""
        for each in self.recorders:
            each.attach(clips)
            clips = None

    def __exit__(self, *problem):
        for each in reversed(self.recorders):
            each.__exit__(*problem)

    def items(self, *args, **named):
        """As Recorder.items: a term may reach parameters of each."""
        for each in self.recorders:
            each.items(*args, **named)

    def check(self, folder, tally=None, show=print, options=()):
        """Recorder.check of each optimizer, in a folder of its own; the worst code."""
        codes, any_steps = [], any(map(takes_steps, self.recorders))
        for name, each in zip(self.names, self.recorders):
            if any_steps and not takes_steps(each):
                show(f"not judged: optimizer {name}, as it took no step")
                continue
            show(f"optimizer {name}:")
            codes.append(each.check(os.path.join(folder, name) if isinstance(folder, (str, os.PathLike)) else folder, tally, show, options))
        return worst(codes)


def are_copies(held, own):
    """Whether an optimizer holds the values of these parameters in another format or place, and not another model's."""
    if [each.shape for each in held] != [each.shape for each in own]:
        return False
    elsewhere = any(not isinstance(one, torch.nn.Parameter) or (one.dtype, one.device) != (other.dtype, other.device)
                    for one, other in zip(held, own))
    return elsewhere and all(torch.equal(one.detach().to(other), other) for one, other in zip(held, own))


class StepsAlone:
    """A recording of parameters that no case states, as `why` says: each step of the optimizer is judged by itself, and
    nothing else. Its verdict is 1 or 4, never 0."""

    def __init__(self, model, optimizer, why, micro_batches, *, level="state", normalisation=None, learning_rate=None, weight_decay=None,
                 clip=None, loss=True, divide="micro_batch", windows=None, start=0, every=None, **_):
        meaning = Meaning(micro_batches, level, normalisation, learning_rate, weight_decay, clip, loss, divide)
        self.report, self.plan, self.optimizer, self.why = Report(meaning), Plan(windows, start, every), optimizer, why
        self.ranks, self.model, self.guard, self.taken, self.sees = None, model, Guard(), 0, None
        names = {id(parameter): f"model.{name}" for name, parameter in model.named_parameters()}
        held = held_by(optimizer)
        self.reads = ReadsOptimizer(optimizer, {each: names.get(id(each), f"model.other.{i}") for i, each in enumerate(held)})
        self.again = StepsAgain(self.reads, self.report)

    def __enter__(self):
        self.attach()
        return self

    def attach(self, _=None):
        self.sees = SeesSteps(self.optimizer, self.guard.listener(self))

    @unseen
    def step_begins(self):
        if self.plan.segment_of(self.taken)[1] and not self.reads.skips_itself():
            self.again.begins(0)

    @unseen
    def step_ends(self):
        self.again.ends(0, self.taken)
        self.taken += 1

    def __exit__(self, *_):
        self.sees.remove()

    def items(self, *_, **__):
        """What counts is not judged here."""

    def check(self, folder, tally=None, show=print, options=()):  # pylint: disable=unused-argument
        """As Recorder.check; nothing is written."""
        if self.guard.problem is not None:
            show(f"error: {in_one_line(self.guard.problem)}")
            return 2
        show(f"not judged: loss, accumulation, unscaling and clip ({self.why}); vary such a loop (tally_recorder.vary)")
        for line in self.again.lines(0, self.reads.unstated() or self.why):
            show(line)
        wrongs = self.report.wrongs()
        show("\n".join(f"fail: {line}" for line in wrongs) or "not judged: all but the optimizer's steps")
        return 1 if wrongs else 4
