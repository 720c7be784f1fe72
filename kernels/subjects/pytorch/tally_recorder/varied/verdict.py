"""Runs a loop on the same rows in other micro-batches, as `tally vary` asks, until that has a verdict."""
import functools
import json
import os
import shutil
import tempfile
from dataclasses import dataclass, field

from ..errors import CaptureError
from ..verdict import command, run
from .runs import DRAWN_ELSEWHERE, Function

FILE, PAGE = "vary.json", "vary.html"


class VaryFailed(AssertionError):
    """What a test that varies its loop raises."""


@dataclass
class Verdict:
    """`partition` is the coarsest that fails, `drift` how far those that pass end from the whole batch in float32, `weights`
    those of a row of each micro-batch. `page` is what `tally vary` wrote, where the folder was kept."""
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
        __tracebackhide__ = True  # of pytest
        if not self.passed:
            raise VaryFailed(f"{self.sentence}\n{self.page}")


def made(folder, name):
    """A folder to write to."""
    try:
        os.makedirs(folder, exist_ok=True)
    except (OSError, TypeError) as problem:
        raise CaptureError(f"{name}: found {folder} ({getattr(problem, 'strerror', None) or problem}), expected a folder that can be written; "
                           "name one") from None


def written(folder, document):
    path = os.path.join(folder, FILE)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(document, file, allow_nan=False)
    os.replace(path + ".new", path)


def asked(program, folder):
    """What the program says of a folder, or wants to be run there."""
    done = run(program, "vary", folder, "--json")
    try:
        return json.loads(done.stdout)
    except ValueError:
        said = " ".join((done.stderr or done.stdout).split())[:300]
        raise CaptureError(f"tally: found {program}, which says of {folder}: {said or 'nothing'}; expected a verdict of `tally vary`; "
                           "pass tally= or set TALLY") from None


def judged(executor, folder, tally=None):
    """What the program says in the end, and the document that says it. All that is run is written to `folder`."""
    program = command(tally)
    document = {**executor.head(), "runs": [], "weights": [], "notes": [], "layers": []}
    while True:
        written(folder, document)
        answer = asked(program, folder)
        if answer["verdict"] != "asks":
            return answer, document
        for ask in answer["asks"]:
            if "run" in ask:
                document["runs"].append(executor.run(ask["run"]))
            else:
                document["weights"].append(executor.weights(ask["weights"]))
            document["notes"], document["layers"] = executor.notes, executor.layers
            document["equal_only"] = executor.equal_only


def verdict_of(executor, out=None, tally=None):
    """Runs it in the folder `out`, or in one that is removed where the loop passes."""
    if out is not None:
        made(out, "out")
    folder, kept = out or tempfile.mkdtemp(prefix="tally-vary-"), out is not None
    try:
        answer, _ = judged(executor, folder, tally)
        if answer["verdict"] == "error":
            raise CaptureError(f"vary: {answer['sentence']}")
        if answer["verdict"] == "fail" and DRAWN_ELSEWHERE in executor.notes:
            raise CaptureError("vary: found a step that draws from Python's or NumPy's generator, other numbers with other micro-batches, "
                               "expected PyTorch's, whose numbers are dealt by rows; draw with torch, or in `data`")
        kept = kept or answer["verdict"] == "fail"
        if kept:
            run(command(tally), "vary", folder)
    finally:
        if not kept:
            shutil.rmtree(folder)
    return Verdict(answer["verdict"] == "pass", answer["cause"], answer["sentence"], tuple(answer["partition"]), answer["drift"],
                   answer["gaps"], answer.get("weights", {}).get("found", []), answer["notes"],
                   os.path.join(folder, PAGE) if kept else "")


def equivalence(**options):
    """Makes a test of a step, for pytest and for unittest: it fails where `vary(step, **options)` does."""
    def test_of(step):
        def test(*own):
            __tracebackhide__ = True  # of pytest
            vary(functools.partial(step, *own), **options).raise_if_failed()
        functools.update_wrapper(test, step)
        del test.__wrapped__  # pytest takes the arguments of what stands there for fixtures
        return test
    return test_of


def vary(step, *, make, data, rows=8, windows=2, seed=0, out=None, tally=None):
    """Runs `step(state, micro_batches)` on the same rows in several partitions. `make()` builds models and optimizers from
    torch's seed, `data(window)` gives the rows of one window. Says nothing of bugs that all partitions share."""
    return verdict_of(Function(step, make, data, rows, windows, seed), out, tally)
