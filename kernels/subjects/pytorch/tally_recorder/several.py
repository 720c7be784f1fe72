"""A loop with several optimizers, as of a GAN: each has its own parameters, its own windows and its own capture."""
import functools
import os

import torch

from .errors import CaptureError
from .steps_alone import StepsAlone


def held_by(optimizer):
    return {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}


def takes_steps(recorder):
    return recorder.taken > 0 if isinstance(recorder, StepsAlone) else recorder.capture.takes_steps


class Several:
    """What `Recorder(models, [optimizer, …], …)` makes: a recorder of each optimizer, under the model with most of its
    parameters. Backward passes belong to the step that follows them."""

    def __init__(self, recorder, models, optimizers, micro_batches, **options):
        models = list(models) if isinstance(models, (list, tuple)) else [models]
        for kind, found, expected in (("model", models, torch.nn.Module), ("optimizer", optimizers, torch.optim.Optimizer)):
            wrong = [type(each).__name__ for each in found if not isinstance(each, expected)]
            if wrong or not found:
                raise CaptureError(f"{kind}: found {wrong[0] if wrong else 'none'} in a list, expected {expected.__name__}s alone; pass "
                                   "Recorder([model, …], [optimizer, …], …)")
        self.recorders = []
        for optimizer in optimizers:
            held = held_by(optimizer)
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
            each.outside.leave(set().union(*(held_by(other.optimizer) for other in others)))

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
        """As Recorder.check, of each optimizer in a folder of its own; the worst code."""
        codes, any_steps = [], any(map(takes_steps, self.recorders))
        for name, each in zip(self.names, self.recorders):
            if any_steps and not takes_steps(each):
                show(f"not judged: optimizer {name}, as it took no step")
                continue
            show(f"optimizer {name}:")
            codes.append(each.check(os.path.join(folder, name) if isinstance(folder, (str, os.PathLike)) else folder, tally, show, options))
        return max(codes, key=lambda code: (code != 0, code != 4, code))
