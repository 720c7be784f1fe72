"""A recording of parameters in formats that no case has: each step of the optimizer is judged by itself, and nothing else."""
import torch

from .guard import Guard, told
from .meaning import Meaning
from .optimizers import ReadsOptimizer
from .plan import Plan
from .report import Report
from .steps import SeesSteps
from .steps_again import StepsAgain
from .unseen import unseen


def are_copies(held, own):
    """Whether an optimizer holds the values of these parameters in another format or place, and not another model's."""
    if [each.shape for each in held] != [each.shape for each in own]:
        return False
    elsewhere = any(not isinstance(one, torch.nn.Parameter) or (one.dtype, one.device) != (other.dtype, other.device)
                    for one, other in zip(held, own))
    return elsewhere and all(torch.equal(one.detach().to(other), other) for one, other in zip(held, own))


class StepsAlone:
    """What `Recorder` makes where `why` no case is. Its verdict is 1 or 4, never 0."""

    def __init__(self, model, optimizer, why, micro_batches, *, level="state", normalisation=None, learning_rate=None, weight_decay=None,
                 clip=None, loss=True, divide="micro_batch", windows=None, start=0, every=None, **_):
        meaning = Meaning(micro_batches, level, normalisation, learning_rate, weight_decay, clip, loss, divide)
        self.report, self.plan, self.optimizer, self.why = Report(meaning), Plan(windows, start, every), optimizer, why
        self.ranks, self.model, self.guard, self.taken, self.sees = None, model, Guard(), 0, None
        names = {id(parameter): f"model.{name}" for name, parameter in model.named_parameters()}
        held = [parameter for group in optimizer.param_groups for parameter in group["params"]]
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
            show(f"error: {told(self.guard.problem)}")
            return 2
        show(f"not judged: loss, accumulation, unscaling and clip ({self.why}); vary such a loop (tally_recorder.vary)")
        for line in self.again.lines(0, self.reads.unstated() or self.why):
            show(line)
        wrongs = self.report.wrongs()
        show("\n".join(f"fail: {line}" for line in wrongs) or "not judged: all but the optimizer's steps")
        return 1 if wrongs else 4
