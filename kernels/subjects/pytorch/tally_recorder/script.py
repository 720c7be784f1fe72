"""Runs a script that knows nothing of the recorder, and records its loop."""
import gc
import os
import runpy
import sys
import traceback

import torch
import torch.distributed as dist

from .capture.gradients import SeesClips
from .capture.losses import SeesLosses
from .capture.windows import Plan
from .other_recorders import StepsAlone
from .recipe import Meaning
from .recorder import Recorder
from .user_code import CaptureError, Enough, Guard, held_by, in_one_line
from .watched import windows_of


def model_of(optimizer):
    """The module that holds all that the optimizer trains: the smallest, of those that hold no more the one with the most layers,
    as of a model whose head is tied to its table, and of its wrappers the innermost."""
    wanted = {id(parameter) for parameter in held_by(optimizer) if parameter.requires_grad}
    found = []
    for module in gc.get_objects():
        if issubclass(type(module), torch.nn.Module):
            held = dict(module.named_parameters())
            if wanted <= {id(parameter) for parameter in held.values()}:
                layers = sum(bool(layer._parameters) for layer in module.modules())
                found.append((len(held), -layers, max(map(len, held)), len(found), module))
    if not found:
        raise CaptureError("the script: found no torch.nn.Module with all parameters of the optimizer, expected one; "
                           "record it by tally_recorder.Recorder(model, optimizer, …)")
    return min(found)[-1]


def check_arguments(micro_batches, level="state", normalisation=None, learning_rate=None, weight_decay=None, clip=None,
                    loss=True, divide="micro_batch", windows=None, start=0, every=None, watch=None, **_):
    """Refuses, before the script begins, what the recorder would refuse in the midst of it."""
    Meaning(micro_batches, level, normalisation, learning_rate, weight_decay, clip, loss, divide)
    Plan(windows, start, every)
    if watch is not None:
        windows_of(watch, windows)


def stays_joined(destroy):
    """Stands in for destroy_process_group: the group of all processes is left to the process's end."""
    return lambda group=None: destroy(group) if group is not None else None


class Watch:
    """Notes every optimizer that is made, and attaches a recorder at the first loss or backward pass. The script runs
    to its end also where none can be made, and why is said then. `stop` ends the script at the first loss after the
    last window to record, or where nothing can be recorded."""

    def __init__(self, stop=False, **options):
        check_arguments(**options)
        self.stop, self.failed = stop, None  # the kind of an exception that ended the script
        self.guard = Guard()  # until there is a recorder, which has its own
        self.options, self.optimizers, self.recorder, self.recorders = options, [], None, []
        self.clips = SeesClips()
        self.made, self.backward = torch.optim.Optimizer.__init__, torch.autograd.backward
        self.mode = SeesLosses(self.loss)
        self.inputs = {}  # what modules were called with until then: one of them turns out to be the model
        self.call = torch.nn.Module.__call__

        def made(optimizer, *args, **kwargs):
            self.made(optimizer, *args, **kwargs)
            self.optimizers.append(optimizer)

        def backward(*args, **kwargs):
            torch.autograd.backward = self.backward
            self.guard.tried(self.attach)
            self.stop_if_over()
            return torch.autograd.backward(*args, **kwargs)

        def called(module, *args, **kwargs):
            self.inputs[id(module)] = args, kwargs
            return self.call(module, *args, **kwargs)

        torch.optim.Optimizer.__init__, torch.autograd.backward, torch.nn.Module.__call__ = made, backward, called

    def attach(self):
        """Attaches a recorder, once."""
        if self.recorder is not None:
            return
        torch.nn.Module.__call__ = self.call
        torch.autograd.backward = self.backward
        if not self.optimizers:
            raise CaptureError("the script: found no optimizer at its first backward pass, expected one; make it before the loop")
        models = [model_of(optimizer) for optimizer in self.optimizers]
        one = len(models) == 1
        recorder = Recorder(models[0], self.optimizers[0], **self.options) if one else Recorder(models, self.optimizers, **self.options)
        recorder.attach(self.clips)
        self.recorder = recorder
        self.recorders = [each for each in ([recorder] if one else recorder.recorders) if not isinstance(each, StepsAlone)]
        for capture, model in ((each.capture, each.model) for each in self.recorders if each.capture is not None):
            capture.guard.tried(capture.losses.model_called, model, *self.inputs.get(id(model), ((), {})))
        self.inputs = {}
        self.mode.silent = self.heard

    def heard(self, *call):
        for each in self.recorders:
            each.heard(*call)

    def loss(self, loss, result):
        self.guard.tried(self.attach)
        captures = self.stop_if_over()
        for each in captures:
            each.guard.tried(each.losses.called, loss, result)

    def stop_if_over(self):
        """The captures, unless the script is to end as nothing is left to record, or nothing can be."""
        captures = [each.capture for each in self.recorders if each.capture is not None]
        over = captures and all(each.guard.problem is not None or each.plan.is_over(each.meaning.place(each.count)[0]) for each in captures)
        if self.stop and (over or self.guard.problem is not None):
            raise Enough
        return captures

    def run(self, arguments, module=False):
        """Runs the script to its end. Ranks stay joined behind it, as they are judged together."""
        if not module and not os.path.isfile(arguments[0]):
            raise CaptureError(f"{arguments[0]}: found no such file, expected a script; name one, or a module after -m")
        sys.argv, status = list(arguments), 0
        if dist.is_available():
            dist.destroy_process_group = stays_joined(dist.destroy_process_group)
        with self.mode:
            try:
                if module:
                    sys.path.insert(0, os.getcwd())
                    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
                else:
                    sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
                    runpy.run_path(arguments[0], run_name="__main__")
            except SystemExit as end:
                status = end.code
            except Enough:
                pass
            except BaseException as problem:  # the script's own, or the user's interrupt
                self.failed = type(problem)
                traceback.print_exc()
        if self.failed:
            if self.recorder is not None:
                self.recorder.__exit__(self.failed)
            return
        if self.guard.problem is not None:
            raise CaptureError(in_one_line(self.guard.problem))
        if status:
            raise CaptureError(f"{arguments[0]}: found the exit status {status}, expected 0; run it without the "
                               "recorder first")
        if self.recorder is None:
            raise CaptureError(f"{arguments[0]}: found no backward pass, expected a training loop; name the script "
                               "that trains")
        self.recorder.__exit__(None)
