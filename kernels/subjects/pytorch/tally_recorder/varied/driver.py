"""Runs a script as files say that come line by line: python -m tally_recorder.varied.driver [PRESET] < LINES

A line is the number of ranks, 0 for a script that is none, and a file, which is a run (see `Script.made`), in processes of
its own that find imported what all of them import. What is seen goes to `seen.json` beside the file, with how far the run
ends from the kept one, gradients that were watched to `gradients.pt`, and what the script says to `said.log`; a line behind
each says how the process ended."""
import functools
import gc
import json
import os
import runpy
import sys
import threading
import time
import traceback

import torch
import torch.nn.functional as F

from ..user_code import CaptureError, Enough, seed_all
from .casts import WRAPPERS, Casts, roots
from .dispatch_modes import writes
from .executor import differences, error_of
from .loaders import Loaders
from .presets import PRESETS, OwnValues, load
from .processes import (Local, all_end, end_with_others, environment, free_port, join_by_gloo, keep, kept, of_rank,
                        wait_for_others)
from .seen import Seen
from .state import batch_layers, hold_still
from .weights import IGNORED, LOSSES

NO_DROPOUT = 4  # the place of `dropout_p` in F.scaled_dot_product_attention


class Functions:
    """`counted(items)` is told of each loss of classes. `dropped`: whether there was a dropout to be left out."""

    def __init__(self, counted):
        self.counted, self.dropped = counted, False
        for name in dir(F):
            if name.startswith("dropout") or name.endswith("dropout"):
                setattr(F, name, self.left_out(getattr(F, name)))
        for name in LOSSES:
            setattr(F, name, self.counting(getattr(F, name)))
        if hasattr(F, "scaled_dot_product_attention"):
            F.scaled_dot_product_attention = self.without_dropout(F.scaled_dot_product_attention)

    def left_out(self, original):
        @functools.wraps(original)
        def dropout(input, p=0.5, training=True, inplace=False):  # pylint: disable=unused-argument
            self.dropped = self.dropped or bool(training and p > 0)
            return input
        return dropout

    def without_dropout(self, original):
        @functools.wraps(original)
        def attention(*args, **options):
            if len(args) > NO_DROPOUT and args[NO_DROPOUT] or options.get("dropout_p"):
                self.dropped, args = True, (*args[:NO_DROPOUT], *((0.0,) if len(args) > NO_DROPOUT else ()), *args[NO_DROPOUT + 1:])
                options = {key: 0.0 if key == "dropout_p" else value for key, value in options.items()}
            return original(*args, **options)
        return attention

    def counting(self, original):
        @functools.wraps(original)
        def loss(*args, **options):
            target = args[1] if len(args) > 1 else options.get("target")
            if not target.is_floating_point():
                self.counted(int(target.ne(args[4] if len(args) > 4 else options.get("ignore_index", IGNORED)).sum()))
            return original(*args, **options)
        return loss


class Driver:
    """One run of the script."""

    def __init__(self, path, rank=0, ranks=0):
        with open(path, encoding="utf-8") as file:
            self.run = json.load(file)
        self.folder, sizes = os.path.dirname(path), self.run["sizes"] or [self.run["rows"]]
        self.rank, sizes = rank, sizes[:len(sizes) // max(ranks, 1)]
        self.casts = Casts(getattr(torch, self.run["precision"]), self.run["moved"], self.run["moved_by"])
        self.seen = Seen(self.run["windows"], self.write, self.run["watch"], bool(self.run["keep"]), Local() if ranks > 1 else None)
        self.casts.drew = self.seen.drew
        self.seen.lonely = lambda: self.casts.beside(roots())
        preset = PRESETS.get(self.run["preset"])
        self.loaders = Loaders(sizes, self.casts, self.seen, max(sizes) if preset and preset.loaders else None)
        self.layers, self.compiled, self.said = {}, False, []
        values = preset.values(max(sizes), len(sizes)) if preset else {}
        self.own_values = OwnValues(values, self.run["script"], self.run["module"]) if values else None
        if ranks:
            join_by_gloo(self.prepare, self.said.append)
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
        """Casts a model that is called, and finds its layers that see the batch."""
        self.casts.module(module)
        for layer in module.modules():
            if isinstance(layer, (torch.nn.RNNBase, torch.nn.MultiheadAttention)) and layer.dropout:
                self.functions.dropped, layer.dropout = True, 0.0
        for name, layer in batch_layers([("", module)]):
            while name.startswith(WRAPPERS):
                name = name.partition(".")[2]
            self.layers[f"{type(layer).__name__} {name}".strip()] = layer
            if "batch_norm" in self.run["frozen"] and layer.training:
                hold_still(layer)

    def write(self, error=None):
        """Writes whatever there is so far."""
        self.said += self.own_values.notes() if self.own_values else ()
        document = self.seen.document()
        with self.casts.aside(), torch.no_grad():
            beside = self.seen.changed() if self.run["beside"] is None else self.run["beside"]
            if self.run["watch"] is not None:
                torch.save({name: getattr(self.seen, name) for name in ("columns", "accumulated", "handed", "terms")},
                           os.path.join(self.folder, of_rank("gradients.pt", self.rank)))
            elif len(document["steps"]) == self.run["windows"] or not error:
                document.update(self.apart(beside))
        document = {**document, "error": error if len(document["steps"]) < self.run["windows"] else None, "compiled": self.compiled,
                    "layers": list(self.layers), "dropped": self.functions.dropped, "beside": beside, "said": self.said, "at": time.time(),
                    "fewer": self.loaders.fewer, "short_last": self.loaders.keep_short == {True}}
        with open(os.path.join(self.folder, of_rank("seen.json", self.rank)), "w", encoding="utf-8") as file:
            json.dump(document, file)

    def apart(self, beside):
        """How far the run ends from the kept one, or why that cannot be said; a run that is kept itself stands for it."""
        tensors = self.seen.tensors(beside)
        share = next((name for name, tensor in tensors.items() if hasattr(tensor, "full_tensor")), None)
        if share:
            return {"refused": f"{self.run['script']}: found {share} as a DTensor, of which a rank has a share (FSDP2), expected whole "
                               "parameters; vary it without sharding"}
        if self.run["keep"]:
            keep(self.run["keep"], tensors)
        try:
            against, scales = kept(self.run["against"]) if self.run["against"] else (tensors, None)
            return {"tensors": differences(tensors, against, scales, self.seen.stepped())}
        except CaptureError as problem:
            return {"refused": str(problem)}

    def left_as_it_is(self, model=None, **_):
        """Stands in for torch.compile."""
        self.compiled = True
        return model if model is not None else lambda later: later

    def trained(self):
        """Runs the script to its last window."""
        script, arguments = self.run["script"], self.run["arguments"]
        sys.argv = [script, *arguments]
        if hasattr(torch, "compile"):
            torch.compile = self.left_as_it_is
        seed_all(self.run["seed"])
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
            return error_of(problem)
        return None


def run(path, rank, ranks, port):
    """Runs in a process of its own."""
    if ranks:
        os.environ.update({key: str(value) for key, value in environment(rank, ranks, port).items()})
    log = os.open(os.path.join(os.path.dirname(path), of_rank("said.log", rank)), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for own, taken in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(own, taken)
    driver = Driver(path, rank, ranks)
    if ranks > 1:
        threading.Thread(target=end_with_others, args=(driver, rank, ranks), daemon=True).start()
    error = driver.ended()
    if not driver.seen.told:
        driver.write(error)
    if ranks > 1 and not error:
        wait_for_others(driver.folder, rank, ranks)


def forked(path, rank, ranks, port):
    child = os.fork()
    if not child:
        run(path, rank, ranks, port)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(0)
    return child


def main():
    load(("torch._dynamo", *(module for name in sys.argv[1:] for module in PRESETS[name].modules)))  # an optimizer imports the first
    gc.collect()
    gc.freeze()  # what is imported: no run looks at it, or takes it down
    for line in iter(sys.stdin.readline, ""):
        ranks, _, path = line.rstrip("\n").partition(" ")
        ranks, port = int(ranks), free_port() if int(ranks) else None
        children = [forked(path, rank, ranks, port) for rank in range(max(ranks, 1))]
        print(all_end(children, os.path.dirname(path)) if ranks > 1 else os.waitpid(children[0], 0)[1], flush=True)


if __name__ == "__main__":
    main()
