"""Runs a loop on the same rows in other micro-batches, as the program asks, until that has a verdict."""
import functools
import json
import os
import shutil
import tempfile
from dataclasses import dataclass, field

from ..errors import CaptureError
from . import rule
from .runs import Function

FILE = "vary.json"


class VaryFailed(AssertionError):
    """What a test that varies its loop raises."""


@dataclass
class Verdict:
    """`partition` is the smallest that fails, `drift` how far those that pass end from the whole batch in float32. `page` is
    what `tally vary` wrote, where the folder was kept."""
    passed: bool
    cause: str
    sentence: str
    partition: tuple
    drift: float
    gaps: list = field(default_factory=list)
    weights: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    page: str = ""

    def raise_if_failed(self):
        if not self.passed:
            raise VaryFailed(self.sentence)


def written(folder, document):
    path = os.path.join(folder, FILE)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1, allow_nan=False)
    os.replace(path + ".new", path)


def judged(executor, folder):
    """What the program says in the end, and the document that says it. All that is run is written to `folder`."""
    document = {**executor.head(), "runs": [], "weights": [], "notes": [], "layers": []}
    while True:
        written(folder, document)
        answer = rule.judged(document)
        if answer["verdict"] != "asks":
            return answer, document
        for ask in answer["asks"]:
            if "run" in ask:
                document["runs"].append(executor.run(ask["run"]))
            else:
                document["weights"].append(executor.weights(ask["weights"]))
            document["notes"], document["layers"] = executor.notes, executor.layers


def verdict_of(executor, out=None):
    """Runs it in the folder `out`, or in one that is removed where the loop passes."""
    if out is not None:
        os.makedirs(out, exist_ok=True)
    folder = out or tempfile.mkdtemp(prefix="tally-vary-")
    kept = False
    try:
        answer, document = judged(executor, folder)
        if answer["verdict"] == "error":
            raise CaptureError(answer["sentence"])
        kept = answer["verdict"] == "fail"
    finally:
        if not out and not kept:
            shutil.rmtree(folder)
    page = os.path.join(folder, "vary.html")
    return Verdict(not kept, answer["cause"], answer["sentence"], tuple(answer["partition"]), answer["drift"], answer["gaps"],
                   document["weights"][-1]["found"] if document["weights"] else [], document["notes"],
                   page if os.path.exists(page) else "")


def equivalence(**options):
    """Makes a test of a step, for pytest and for unittest: it fails where `vary(step, **options)` does."""
    def test_of(step):
        def test(*own):
            vary(functools.partial(step, *own), **options).raise_if_failed()
        functools.update_wrapper(test, step)
        del test.__wrapped__  # pytest takes the arguments of what stands there for fixtures
        return test
    return test_of


def vary(step, *, make, data, rows=8, windows=2, seed=0, out=None):
    """Runs `step(state, micro_batches)` on the same rows in several partitions. `make()` builds models and optimizers from
    torch's seed, `data(window)` gives the rows of one window. Says nothing of bugs that all partitions share."""
    return verdict_of(Function(step, make, data, rows, windows, seed), out)
