"""Runs a script as files say that come line by line: python -m tally_recorder.varied.script.driver [PRESET] < LINES

Each is a run (see `Script.made`), in a process of its own that finds imported what all of them import. What is seen goes to
`seen.json` beside the file, with how far the run ends from the kept one; gradients that were watched to `gradients.pt`, what
the script says to `said.log`; a line behind each says how the process ended."""
import gc
import json
import os
import random
import runpy
import sys
import traceback

import torch

from ...errors import CaptureError
from ..executor import differences
from ..layers import hold, layers_of
from ..places import own_frame
from ..precision import writes
from .casts import Casts
from .functions import Functions
from .kept import keep, kept
from .loaders import Loaders
from .presets import PRESETS, load
from .roots import roots
from .seen import Enough, Seen


class Driver:
    """Of one run."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.run = json.load(file)
        self.folder, sizes = os.path.dirname(path), self.run["sizes"] or [self.run["rows"]]
        self.casts = Casts(getattr(torch, self.run["precision"]), self.run["moved"], self.run["moved_by"])
        self.seen = Seen(self.run["windows"], self.write, self.run["watch"], bool(self.run["keep"]))
        self.casts.drew = self.seen.drew
        self.seen.lonely = lambda: self.casts.beside(roots())
        preset = PRESETS.get(self.run["preset"])
        self.loaders = Loaders(sizes, self.casts, self.seen, max(sizes) if preset and preset.loaders else None)
        self.layers, self.compiled = {}, False
        self.hook(preset, sizes)

    def hook(self, preset, sizes):
        made, called, casts, seen = torch.optim.Optimizer.__init__, torch.nn.Module.__call__, self.casts, self.seen
        depth = [0]

        def optimizer_made(optimizer, *args, **kwargs):
            made(optimizer, *args, **kwargs)
            first = not casts.on
            casts.optimizer(optimizer)
            if first:
                casts.beside(roots())
            seen.optimizer(optimizer)

        def read(func, given, result):
            if not depth[0]:
                with casts.aside():
                    seen.read(given, result, writes(func))

        def module_called(module, *args, **kwargs):
            if depth[0]:
                return called(module, *args, **kwargs)
            self.prepare(module)
            with casts.aside():
                seen.model_called(module, args, kwargs)
            depth[0] = 1
            try:
                result = called(module, *casts.rows(args), **casts.rows(kwargs))
            finally:
                depth[0] = 0
            seen.model_gave(result)
            return result

        torch.optim.Optimizer.__init__, torch.nn.Module.__call__, casts.read = optimizer_made, module_called, read
        torch.autograd.backward = seen.backward(torch.autograd.backward)
        self.functions = Functions(seen.counted)
        self.loaders.install()
        if preset and preset.patch:
            preset.patch(max(sizes), len(sizes))

    def prepare(self, module):
        """A model that is called."""
        self.casts.module(module)
        for layer in module.modules():
            if isinstance(layer, (torch.nn.RNNBase, torch.nn.MultiheadAttention)) and layer.dropout:
                self.functions.dropped, layer.dropout = True, 0.0
        for name, layer in layers_of([("", module)]):
            self.layers[f"{type(layer).__name__} {name}".strip()] = layer
            if "batch_norm" in self.run["frozen"] and layer.training:
                hold(layer)

    def write(self, error=None):
        """Whatever there is so far."""
        document = self.seen.document()
        with self.casts.aside(), torch.no_grad():
            beside = self.seen.changed() if self.run["beside"] is None else self.run["beside"]
            if self.run["watch"] is not None:
                torch.save({name: getattr(self.seen, name) for name in ("columns", "accumulated", "handed", "terms")},
                           os.path.join(self.folder, "gradients.pt"))
            elif len(document["steps"]) == self.run["windows"] or not error:
                document.update(self.apart(beside))
        document = {**document, "error": error if len(document["steps"]) < self.run["windows"] else None, "compiled": self.compiled,
                    "layers": list(self.layers), "dropped": self.functions.dropped, "beside": beside,
                    "short_last": self.loaders.keep_short == {True}}
        with open(os.path.join(self.folder, "seen.json"), "w", encoding="utf-8") as file:
            json.dump(document, file)

    def apart(self, beside):
        """How far the run ends from the kept one, or why that cannot be said; a run that is kept itself stands for it."""
        tensors = self.seen.tensors(beside)
        if self.run["keep"]:
            keep(self.run["keep"], tensors)
        try:
            return {"tensors": differences(tensors, kept(self.run["against"]) if self.run["against"] else tensors)}
        except CaptureError as problem:
            return {"refused": str(problem)}

    def left_as_it_is(self, model=None, **_):
        """In the place of torch.compile."""
        self.compiled = True
        return model if model is not None else lambda later: later

    def trained(self):
        """The script, to its last window."""
        script, arguments = self.run["script"], self.run["arguments"]
        sys.argv = [script, *arguments]
        if hasattr(torch, "compile"):
            torch.compile = self.left_as_it_is
        random.seed(self.run["seed"])
        torch.manual_seed(self.run["seed"])
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(self.run["seed"])
        sys.path[0] = os.getcwd() if self.run["module"] else os.path.dirname(os.path.abspath(script))
        with self.casts:
            if self.run["module"]:
                runpy.run_module(script, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(script, run_name="__main__")

    def ended(self):
        """What ended the script early; None where nothing did."""
        try:
            self.trained()
        except Enough:
            return None
        except SystemExit as end:
            if end.code:
                return {"type": "SystemExit", "text": str(end.code), "file": self.run["script"], "line": None}
        except Exception as problem:  # pylint: disable=broad-except
            traceback.print_exc()
            frame = own_frame(traceback.extract_tb(problem.__traceback__))
            return {"type": type(problem).__name__, "text": " ".join(str(problem).split())[:200],
                    "file": frame and frame.filename, "line": frame and frame.lineno}
        return None


def run(path):
    """In a process of its own."""
    log = os.open(os.path.join(os.path.dirname(path), "said.log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for own, taken in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(own, taken)
    driver = Driver(path)
    error = driver.ended()
    if not driver.seen.told:
        driver.write(error)


def main():
    load(("torch._dynamo", *(module for name in sys.argv[1:] for module in PRESETS[name].modules)))  # an optimizer imports the first
    gc.collect()
    gc.freeze()  # what is imported: no run looks at it, or takes it down
    for line in iter(sys.stdin.readline, ""):
        child = os.fork()
        if not child:
            run(line.rstrip("\n"))
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(0)
        print(os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    main()
