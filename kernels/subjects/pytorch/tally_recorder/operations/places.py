"""Where in the program an operation stands: its line, its module and its phase, read from the stack; of a backward operation
those of the forward operation whose gradient it is a part of."""
import functools
import os
import sys
import sysconfig
import threading
import weakref

import torch
from torch.autograd import profiler
from torch.optim import optimizer

from ..user_code import MACHINERY, TYPED, shown

OUTSIDE, MACHINE, LIBRARY, BACKWARD, STEP, MODULE, COMPILED = range(7)
STDLIB = tuple(sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib"))
NOTED = 1 << 18  # nodes of the graph that are kept in mind
KINDS = {torch.autograd.backward.__code__.co_filename: {"backward": BACKWARD, "grad": BACKWARD}, optimizer.__file__: {"wrapper": STEP},
         torch.nn.Module._call_impl.__code__.co_filename: {"_call_impl": MODULE},
         os.path.join(os.path.dirname(torch.__file__), "_dynamo", "eval_frame.py"): {
             "compile_wrapper": COMPILED, "_TorchDynamoContext.__call__.<locals>._fn": COMPILED}}  # newer and older versions

node_at_work = getattr(torch._C, "_current_autograd_node", lambda: None)
next_number = getattr(torch._C._autograd, "_get_sequence_nr", None)  # of the next node of the graph; PyTorch 1.13 has none


@functools.lru_cache(maxsize=None)
def kind_of_file(file):
    if file.startswith(MACHINERY):
        return MACHINE
    if file.startswith("<") and not file.startswith(TYPED):
        return LIBRARY
    return LIBRARY if file.startswith(STDLIB) and "-packages" not in file else OUTSIDE


def kind_of(code):
    """What a frame of this code says of an operation inside."""
    named = KINDS.get(code.co_filename)
    if named is None:
        return kind_of_file(code.co_filename)
    return named.get(code.co_name) or named.get(getattr(code, "co_qualname", None), MACHINE)


def text_of(frame):
    return frame and f"{shown_once(frame.f_code.co_filename)}:{frame.f_lineno} in {frame.f_code.co_name}"


def outer(frame):
    """The innermost frame outside of PyTorch that called this one, or is it; None where there is none."""
    while frame is not None and kind_of(frame.f_code) != OUTSIDE:
        frame = frame.f_back
    return frame


def line_of_call():
    """Where outside of PyTorch the program is; None where that is nowhere."""
    return text_of(outer(sys._getframe(1)))


@functools.lru_cache(maxsize=None)
def shown_once(file):
    return shown(file)


class Paths:
    """The paths of modules. Without a model they are those within whatever module the program itself calls, where
    `search` is set, else none."""

    def __init__(self, model=None, search=False):
        self.search, self.held = search, {}
        if model is not None:
            self.name(model)

    def name(self, model):
        for path, module in model.named_modules():
            self.held.setdefault(id(module), (weakref.ref(module), path))

    def of(self, frames):
        """The path of the innermost of these calls of modules; None where it is no known module's."""
        if not frames or not self.held and not self.search:
            return None
        found = self.path(frames[0].f_locals.get("self"))
        if found is None and self.search:
            self.name(frames[-1].f_locals["self"])
            return self.path(frames[0].f_locals["self"])
        return found if found is not None else next(filter(None, map(self.path, (frame.f_locals.get("self") for frame in frames[1:]))), None)

    def path(self, module):
        reference, path = self.held.get(id(module), (lambda: None, None))
        return path if reference() is module else None


class Steps:
    """Counts the steps of optimizers, which PyTorch names to its profiler. A step within another is a part of it."""

    def __init__(self):
        self.taken, self.restore, self.inside = 0, (), threading.local()

    def attach(self):
        enter, leave = self.restore = profiler.record_function.__enter__, profiler.record_function.__exit__

        def moved(region, by):
            if region.name.startswith("Optimizer.step#"):
                self.inside.depth = getattr(self.inside, "depth", 0) + by
                self.taken += by < 0 and not self.inside.depth

        @functools.wraps(enter)
        def entered(region):
            moved(region, 1)
            return enter(region)

        @functools.wraps(leave)
        def left(region, *args):
            moved(region, -1)
            return leave(region, *args)

        profiler.record_function.__enter__, profiler.record_function.__exit__ = entered, left

    def remove(self):
        profiler.record_function.__enter__, profiler.record_function.__exit__ = self.restore


class Place:
    """Where an operation stands. `compiled` says that torch.compile would have run it."""

    def __init__(self, where, module, phase, compiled):
        self.where, self.module, self.phase, self.compiled = where, module, phase, compiled


class Places:
    def __init__(self, paths):
        self.paths, self.nodes, self.threads = paths, {}, {threading.get_ident(): 0}

    def thread(self):
        """0 for the thread that began the recording."""
        return self.threads.setdefault(threading.get_ident(), len(self.threads))

    def now(self, differentiates):
        """The place of the operation that runs. `differentiates` says whether autograd notes it."""
        node, where, phase, modules, compiled = node_at_work(), None, None, [], False
        frame, python = sys._getframe(1), False  # a thread of autograd's engine has no frames of Python
        while frame is not None:
            kind = kind_of(frame.f_code)
            python = python or kind in (OUTSIDE, LIBRARY, BACKWARD)
            if kind == OUTSIDE and where is None:
                where = text_of(frame)
            elif kind == COMPILED:
                compiled = True
            elif phase is None:
                if kind == MODULE:
                    modules.append(frame)
                elif kind == STEP:
                    phase = "forward" if modules or differentiates else "optimizer"
                elif kind == BACKWARD:
                    phase = "backward"
                    if where is None and node is not None:
                        break
            frame = frame.f_back
        if phase is None:
            backward = node is not None or not python
            phase = "backward" if backward else "forward" if modules or differentiates else "other"
        module = self.paths.of(modules)
        if phase == "backward" and node is not None:
            forward = self.nodes.get(node._sequence_nr(), (None, None, None))
            where, module = where or forward[1] or text_of(outer(frame)), module or forward[2]
        if next_number is not None:
            self.note(where, module)
        return Place(where, module, phase, compiled)

    def note(self, where, module):
        """Keeps the place of the operation whose node was made last, unless it was kept with an earlier operation. Every
        thread counts its own nodes: of equal numbers the later is kept."""
        number, thread = next_number() - 1, threading.get_ident()
        if self.nodes.get(number, (None,))[0] != thread:
            self.nodes.pop(number, None)
            self.nodes[number] = thread, where, module
            if len(self.nodes) > NOTED:
                del self.nodes[next(iter(self.nodes))]
