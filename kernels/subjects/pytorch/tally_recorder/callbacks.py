"""Callbacks of Transformers' Trainer, Lightning and Accelerate, which record the training that they are given to.

The first two are classes of their framework as well, which is imported when the first is made and not before."""
import importlib.util
import inspect
import sys

import torch

from .ranks import several
from .recorder import Recorder
from .script import check_arguments
from .user_code import CaptureError, in_one_line


def inner_optimizer(optimizer):
    """The optimizer that wrappers such as Accelerate's wrap."""
    while isinstance(getattr(optimizer, "optimizer", None), torch.optim.Optimizer):
        optimizer = optimizer.optimizer
    return optimizer


class Records:
    """Enters a recorder where a training begins, and leaves it, checks and says the verdict where it ends; `code` is then
    the exit code of `tally check`. Nothing that goes wrong here reaches the training. Options are those of Recorder; `out`
    is the folder of the capture, and `tally` the program."""

    def __new__(cls, *_, **__):
        bases = tuple(base for base in cls.of_framework() if not issubclass(cls, base))
        return super().__new__(type(cls.__name__, (cls, *bases), {"__module__": cls.__module__}) if bases else cls)

    def __init__(self, micro_batches, *, out="tally-out/recorded", tally=None, show=print, **options):
        super().__init__()
        known = [*inspect.signature(Recorder.__init__).parameters, *(["report"] if options.get("watch") is not None else [])]
        for name in options:
            if name not in known:
                raise CaptureError(f"{name}: found an option that Recorder does not have, expected {', '.join(known[4:])}; pass "
                                   "one of these")
        check_arguments(micro_batches, **options)
        self.micro_batches, self.out, self.tally, self.show, self.options = micro_batches, out, tally, show, options
        self.recorder, self.code = None, None

    def begins(self, model, optimizers):
        self.ends(Exception)  # a training before this one, whose end nobody said
        self.code, watched = None, {}
        try:
            if self.options.get("watch") is not None:
                watched = {"report": self.report, "out": self.out, "tally": self.tally, "show": self.show}
            if model is None:
                raise CaptureError("the training: found no one model that was prepared, expected one; record by "
                                   "tally_recorder.Recorder([model, …], [optimizer, …], …) around the training")
            if len(optimizers) != 1:
                raise CaptureError(f"the training: found {len(optimizers)} optimizers, expected one; record one of them by "
                                   "tally_recorder.Recorder(model, optimizer, …) around the training")
            self.recorder = Recorder(model, inner_optimizer(optimizers[0]), self.micro_batches, **{**watched, **self.options})
            self.recorder.__enter__()
        except Exception as problem:  # pylint: disable=broad-except
            self.fails(problem)

    def report(self, step, figures):
        """What becomes of the figures of a training that is watched, unless an option says so."""

    def ends(self, kind=None):
        recorder, self.recorder = self.recorder, None
        if recorder is None:
            return
        try:
            recorder.__exit__(kind, None, None)
            if kind is not None and several():
                raise CaptureError(f"the training: found {kind.__name__} on this rank, expected an end that all ranks come to, as "
                                   "they are judged together; this run is not judged")
            self.code = self.checked(recorder) if isinstance(recorder, Recorder) else recorder.check()
        except Exception as problem:  # pylint: disable=broad-except
            self.fails(problem)

    def checked(self, recorder):
        """Shows the verdict first, among what the training says, and behind it what was assumed and what every stage
        did."""
        lines = []
        code = recorder.check(self.out, self.tally, lines.append)
        said = "\n".join(lines).split("\n")
        at = max((i for i, line in enumerate(said) if not line.startswith(" ")), default=0)
        if any(line.startswith("windows ") for line in said):  # each stretch has a verdict of its own
            at = 0
        for part in filter(None, (said[at:], said[:at])):
            self.show("\n".join(part))
        return code

    def fails(self, problem):
        self.recorder, self.code = None, 2
        self.show(f"error: {in_one_line(problem)}")


class Callback(Records):
    """The callback for `transformers.Trainer(callbacks=[…])`. Trainer tells nobody of a training that ends by an
    exception: it is judged where the next begins."""

    @staticmethod
    def of_framework():
        return [importlib.import_module("transformers").TrainerCallback]

    def on_train_begin(self, args, state, control, model=None, optimizer=None, **_):
        self.begins(model, [optimizer])

    def on_train_end(self, args, state, control, **_):
        self.ends()


class LightningCallback(Records):
    """The callback for `Trainer(callbacks=[…])` of lightning, or of pytorch_lightning. Figures of a training that is
    watched go to the trainer's loggers."""

    @staticmethod
    def of_framework():
        """The callback classes of both where both are in use, as each looks for its own."""
        names = ("lightning.pytorch", "pytorch_lightning")
        used = [name for name in names if name in sys.modules] or [next(filter(is_installed, names), names[0])]
        return [importlib.import_module(name).Callback for name in used]

    def report(self, step, figures):
        for logger in self.trainer.loggers:
            logger.log_metrics(figures, step)

    def on_train_start(self, trainer, pl_module):
        self.trainer = trainer
        self.begins(pl_module, trainer.optimizers)

    def on_train_end(self, trainer, pl_module):
        self.ends()

    def on_exception(self, trainer, pl_module, exception):
        self.ends(type(exception))


class AccelerateCallback(Records):
    """A further tracker, made behind `accelerator.prepare(…)`, and behind `init_trackers` where a script calls that:
    `accelerator.end_training()` ends it."""
    name = "tally"

    @staticmethod
    def of_framework():
        return []

    def __init__(self, accelerator, micro_batches, **options):
        super().__init__(micro_batches, **options)
        models, optimizers = accelerator._models, accelerator._optimizers
        self.begins(models[0] if len(models) == 1 else None, optimizers)
        accelerator.trackers.append(self)

    def log(self, *_, **__):
        """What other trackers are told is not asked for."""

    start = store_init_configuration = log

    def finish(self):
        self.ends()


def is_installed(name):
    return importlib.util.find_spec(name.partition(".")[0]) is not None
