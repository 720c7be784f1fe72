"""Calls whose operations a recording cannot see: they are named by a line in their place."""
import functools
import sys

import torch

from .places import line_of_call

COMPILED = "a function of torch.compile runs operation by operation while it is recorded; what was compiled is not what was recorded"
SCRIPTED = "a function of TorchScript may fuse operations, which no mode sees"
REPLAYED = "a CUDA graph is replayed, whose operations no mode sees"
CAPTURED = "operations are captured into a CUDA graph, whose tensors have no contents until it is replayed"
CHANGED = "the contents of a tensor changed between operations: by C++ code, another thread, NumPy, or an operation that does not say so"
WHOLE = "is a higher-order operation, whose parts no mode sees"


def captures():
    """Whether a CUDA graph is captured, when nothing can be copied from the device."""
    return "torch.cuda" in sys.modules and torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


class Calls:
    """Tells `unseen` of calls of TorchScript and replays of CUDA graphs."""

    def __init__(self, unseen):
        self.unseen, self.restore = unseen, []

    def attach(self):
        for kind, name, sentence in ((torch._C.ScriptMethod, "__call__", SCRIPTED), (torch._C.ScriptFunction, "__call__", SCRIPTED),
                                     (torch.cuda.CUDAGraph, "replay", REPLAYED)):
            self.restore.append((kind, name, kind.__dict__[name]))
            setattr(kind, name, self.told(kind.__dict__[name], sentence))

    def told(self, call, sentence):
        @functools.wraps(call)
        def called(*args, **kwargs):
            self.unseen(sentence, line_of_call())
            return call(*args, **kwargs)
        return called

    def remove(self):
        for kind, name, call in self.restore:
            setattr(kind, name, call)
        self.restore = []
