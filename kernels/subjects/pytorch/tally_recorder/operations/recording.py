"""A recording of every ATen operation that runs while it is entered, in the files of a folder."""
import contextlib
import hashlib
import json
import os
import threading

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ..user_code import CaptureError, Enough, Guard, in_one_line
from ..verdict import can_be_written
from . import unseen
from .profiles import claims_of
from .places import Paths, Places, Steps, line_of_call
from .storages import Storages, write_all
from .values import has_parts, is_operation, overrides, schema_of, tensors_in, value_of

VERSION = 1
BITS, LINES = "bits.bin", "operations.jsonl"


def rank():
    joined = torch.distributed.is_available() and torch.distributed.is_initialized()
    return torch.distributed.get_rank() if joined else int(os.environ.get("RANK", 0))


def header(share, seed):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    profile = f"pytorch-{device}-{'.'.join(torch.__version__.split('.')[:2])}"
    return {"tally": "operations", "version": VERSION, "torch": torch.__version__, "devices": ["cpu", "cuda"][:1 + (device == "cuda")],
            "threads": torch.get_num_threads(), "share": share, "seed": seed, "rank": rank(),
            "profile": profile, "claims": claims_of(profile)}


def drawn(share, *key):
    """Whether this share of all keys has this one: the same in every process."""
    number = int.from_bytes(hashlib.blake2b(",".join(map(str, key)).encode(), digest_size=8).digest(), "little")
    return number < share * 2**64


class Mode(TorchDispatchMode):
    """Hands every operation to the recording, which runs it."""
    supports_higher_order_operators = True

    def __init__(self, recording):
        super().__init__()
        self.recording = recording

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.recording.rests():
            return func(*args, **kwargs)
        if any(map(overrides, types)):
            return NotImplemented  # the kind of tensor takes it apart, and this mode sees the parts
        if not is_operation(func):
            self.recording.other(func)
            return func(*args, **kwargs)
        if has_parts(func):
            with self:
                return func.decompose(*args, **kwargs)
        return self.recording.run(func, args, kwargs)


class Call:
    """An operation that is to be recorded, from before it runs. `line` is None where it is not drawn."""
    line = None

    def __init__(self, func, args, kwargs):
        self.schema = schema_of(func)
        self.given = self.schema.given(args, kwargs)
        self.written = {name: self.given[name] for name in self.schema.written(self.given) if self.given.get(name) is not None}


class Operations:
    """Writes operations.jsonl and bits.bin to a folder that has neither. `model` gives the paths of modules. A `share` of all
    operations is recorded, drawn by `seed`, with the first of every name in each step. The loop is neither changed nor ended,
    unless it is to end behind `steps` of its optimizers; where the recording itself fails, it says so at its end."""

    def __init__(self, folder, model=None, share=1.0, seed=0, steps=None):
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise CaptureError(f"share: found {share!r}, expected a number from 0 to 1; pass the share of operations that is recorded")
        if model is not None and not isinstance(model, torch.nn.Module):
            raise CaptureError(f"model: found {type(model).__name__}, expected a torch.nn.Module; pass Operations(folder, model)")
        self.folder, self.share, self.seed, self.stop = folder, share, seed, steps
        self.places, self.steps, self.guard, self.lock = Places(Paths(model)), Steps(), Guard(), threading.RLock()
        self.mode, self.calls = Mode(self), unseen.Calls(self.unseen)
        self.files, self.pending, self.said = [], [], set()
        self.seen, self.recorded, self.step, self.names, self.process = 0, 0, 0, set(), None

    def __enter__(self):
        can_be_written(self.folder)
        for name in (LINES, BITS):
            if os.path.lexists(os.path.join(self.folder, name)):
                raise CaptureError(f"{os.path.join(self.folder, name)}: found a recording of operations, expected none; pass another "
                                   "folder, or remove it")
        self.lines, self.bits = (open(os.path.join(self.folder, name), "x+b", buffering=0) for name in (LINES, BITS))
        self.storages, self.process = Storages(self.bits, self.pending.append), os.getpid()
        self.write(header(self.share, self.seed))
        self.steps.attach()
        self.calls.attach()
        self.mode.__enter__()
        return self

    def __exit__(self, kind, *_):
        self.mode.__exit__(None, None, None)
        self.calls.remove()
        self.steps.remove()
        self.guard.tried(self.end)
        if self.guard.problem is not None:
            with contextlib.suppress(OSError):
                self.write({"unseen": in_one_line(self.guard.problem)})
        self.lines.close()
        self.bits.close()
        self.process = None
        if kind is None and self.guard.problem is not None:
            raise CaptureError(in_one_line(self.guard.problem))

    def rests(self):
        """Whether nothing is recorded: behind its end, behind a failure, in a process that was forked."""
        return self.process != os.getpid() or self.guard.problem is not None

    def write(self, *lines):
        write_all(self.lines, "".join(json.dumps(line) + "\n" for line in lines).encode())

    def unseen(self, sentence, where):
        """Once each."""
        if not self.rests() and (sentence, where) not in self.said:
            self.said.add((sentence, where))
            self.guard.tried(self.write, {"unseen": sentence, **({"where": where} if where else {})})

    def end(self):
        self.write(*self.pending, {"end": True, "seen": self.seen, "recorded": self.recorded})

    def other(self, func):
        """What reaches a mode and is no operation: marks of the profiler, and operations of a higher order."""
        if not isinstance(func, torch._ops.OpOverload):
            self.unseen(f"{func} {unseen.WHOLE}", line_of_call())

    def run(self, func, args, kwargs):
        if self.stop is not None and self.steps.taken >= self.stop:
            raise Enough
        call = self.guard.tried(self.before, func, args, kwargs)
        try:
            result = func(*args, **kwargs)
        except BaseException:  # which may have written a part
            self.guard.tried(self.wrote, call)
            raise
        self.guard.tried(self.after, call, result)
        return result

    def before(self, func, args, kwargs):
        with self.lock:
            call = Call(func, args, kwargs)
            number, self.seen = self.seen, self.seen + 1
            if self.steps.taken != self.step:
                self.step, self.names = self.steps.taken, set()
            tensors = [tensor for value in call.given.values() for tensor in tensors_in(value)]
            place = self.places.now(torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors))
            if place.compiled:
                self.unseen(unseen.COMPILED, place.where)
            first = call.schema.name not in self.names
            self.names.add(call.schema.name)
            if not first and self.share < 1 and not drawn(self.share, self.seed, self.step, number):
                return call
            if unseen.captures():
                self.unseen(unseen.CAPTURED, place.where)
                return call
            arguments = {name: value_of(value, self.storages) for name, value in call.given.items()}
            for tensor in tensors:
                self.storages.note(tensor)
            if self.storages.changed:
                self.unseen(f"{unseen.CHANGED} ({self.storages.changed}, which {call.schema.name} reads)", place.where)
                self.storages.changed = None
            thread = self.places.thread()
            call.line = {"op": call.schema.name, "i": number, "args": arguments, "out": [], "wrote": {}, "where": place.where,
                         "module": place.module, "phase": place.phase, "thread": thread or None, "step": self.step}
            return call

    def wrote(self, call):
        with self.lock:
            for value in call.written.values():
                for tensor in tensors_in(value):
                    self.guard.tried(self.storages.wrote, tensor)

    def after(self, call, result):
        with self.lock:
            self.wrote(call)
            if call.line is None:
                return
            returned = list(result) if isinstance(result, tuple) else [] if result is None else [result]
            call.line["out"] = [value_of(value, self.storages) for value in returned]
            call.line["wrote"] = {name: value_of(value, self.storages) for name, value in call.written.items()}
            line = {key: value for key, value in call.line.items() if value is not None and (key != "wrote" or value)}
            self.write(*self.pending, line)
            self.pending.clear()
            self.recorded += 1
