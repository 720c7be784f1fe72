"""Runs that `tally vary` asks for, until it has a verdict, and how far each ends from the whole batch."""
import json
import os
import shutil
import tempfile
import traceback
from dataclasses import dataclass, field

import torch

from ..user_code import CaptureError, own_frame
from ..verdict import command, run

DRAWN_ELSEWHERE = ("the step draws from Python's or NumPy's generator, seeded alike for every window: rows of other micro-batches may "
                   "have other numbers")
CHUNK = 1 << 17  # elements of a tensor that are compared at once: they stay in a processor's cache
ASK = {"sizes": None, "ranks": 1, "precision": "float64", "moved": 0, "moved_by": "", "again": False, "frozen": []}
FILE, PAGE = "vary.json", "vary.html"


@dataclass
class Ended:
    """One run. `tensors` are what it left, by name; the lists have one entry for each window. `error` is what ended it
    early: {"type", "text", "file", "line"}."""
    tensors: dict = field(default_factory=dict)
    stepped: set = field(default_factory=set)  # names of those that an optimizer steps
    steps: list = field(default_factory=list)
    micro_batches: list = field(default_factory=list)
    rows_hash: str = ""
    items: list = field(default_factory=list)  # in each window, of each micro-batch; None where not seen
    options: list = field(default_factory=list)  # in each window, at each step, as `options_of` gives them
    uncleared: list = field(default_factory=list)  # windows whose step was handed what the one before left
    left_over: list = field(default_factory=list)  # {"window", "rows", "lost"}: what an epoch left over of its micro-batches
    stepped_early: dict = None  # {"window", "behind", "of"}: a window that is stepped behind fewer micro-batches than others
    repeated: dict = None  # {"window", "rows", "times"}: what it trains on more often than the whole batch's windows do
    ranks_apart: str = ""  # in what ranks differ that they should have in common
    error: dict = None
    trained: bool = True  # whether any tensor is another than before
    places: list = field(default_factory=list)  # the same of what the losses read, ignored labels too


class Executor:
    """A subclass has `ended(ask)`, which runs the loop and gives an Ended, `loop()`, which says what the loop is, and may
    have `weights(ask)`. `ask` has the keys sizes, ranks, precision, moved, again and frozen of a run in vary.json. `notes` and
    `layers` are read after every run."""

    def __init__(self, rows, windows, seed, precisions=("float64", "float32")):
        self.rows, self.windows, self.seed, self.precisions = rows, windows, seed, list(precisions)
        self.notes, self.layers, self.wholes = [], [], {}
        self.nproc = []  # numbers of ranks that the rows are to be dealt to as well
        self.sizes_told = True  # whether the loop knows the size of each micro-batch, not of the largest alone
        self.equal_only = False  # whether micro-batches can have one size alone; may turn out as it runs

    def head(self):
        """What vary.json begins with."""
        return {"tally_vary": 1, "loop": self.loop(), "rows": self.rows, "windows": self.windows, "seed": self.seed,
                "precisions": self.precisions, "nproc": self.nproc, "equal_only": self.equal_only, "sizes_told": self.sizes_told}

    def run(self, ask):
        """An entry of `runs` in vary.json."""
        ask = {**ASK, **ask}
        moved, frozen = (ask["moved"], ask["moved_by"]), tuple(ask["frozen"])
        if self.is_whole(ask) and not ask["again"]:
            ended = self.whole(moved, frozen)
            against = self.whole((0, ""), frozen) if moved[0] else ended
        else:
            ended, against = self.ended(ask), self.whole(moved, frozen)
        return {**ask, "tensors": [] if ended.error else self.apart(ended, against), "steps": ended.steps,
                "micro_batches": ended.micro_batches, "rows_hash": ended.rows_hash, "items": ended.items if all(ended.items) else [],
                "places": ended.places if all(ended.places) else [], "options": ended.options, "uncleared": ended.uncleared,
                "left_over": ended.left_over, "ranks_apart": ended.ranks_apart, "stepped_early": ended.stepped_early, "repeated": ended.repeated,
                "error": ended.error, "trained": ended.trained}

    def apart(self, ended, against):
        """The entries `tensors` of a run."""
        for name, value in ended.tensors.items():
            if not can_round(value) and not name.endswith("num_batches_tracked") and not torch.equal(value, against.tensors[name]):
                self.note(f"not compared: whole numbers, which differ ({name})")
                break
        return differences(ended.tensors, against.tensors, stepped=ended.stepped)

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def weights(self, ask):  # pylint: disable=unused-argument
        """An entry of `weights` in vary.json; None where they cannot be told."""
        return None

    def is_whole(self, ask):
        return ask["sizes"] is None and ask["precision"] == self.precisions[0]

    def whole(self, moved, frozen):
        """The reference of all runs that are moved and held still like this."""
        if (moved, frozen) not in self.wholes:
            self.wholes[moved, frozen] = self.ended({**ASK, "precision": self.precisions[0], "moved": moved[0], "moved_by": moved[1],
                                                     "frozen": list(frozen)})
        return self.wholes[moved, frozen]


def error_of(problem):
    """What ended a run early."""
    frame = own_frame(traceback.extract_tb(problem.__traceback__))
    return {"type": type(problem).__name__, "text": " ".join(str(problem).split())[:200],
            "file": frame and frame.filename, "line": frame and frame.lineno}


def figure(value):
    """A number of vary.json, where one that is not finite is null."""
    value = float(value)
    return value if abs(value) < float("inf") else None


def reals(tensor):
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def can_round(tensor):
    return tensor.is_floating_point() or tensor.is_complex()


def largest(tensor):
    """Its largest absolute element; NaN where one is, infinite where one is."""
    return max_of([chunk.double().abs().max() for chunk in tensor.reshape(-1).split(CHUNK)])


def max_of(figures):
    return float(torch.stack(figures).max())


def scale_of(reference):
    """The largest finite element; NaN where one is none."""
    reference = reals(reference)
    scale = largest(reference)
    return scale if scale < float("inf") else largest(torch.where(reference.isinf(), torch.zeros_like(reference), reference))


def distance_of(one, two):
    """The largest difference; two infinities that are alike have none."""
    if not one.numel():
        return 0.0
    apart = max_of([(a.double() - b.double()).abs_().max() for a, b in zip(one.reshape(-1).split(CHUNK), two.reshape(-1).split(CHUNK))])
    if apart < float("inf"):
        return apart
    return largest(torch.where(one == two, torch.zeros_like(two, dtype=torch.float64), one.double() - two.double()))


def differences(left, reference, scales=None, stepped=()):
    """The entries `tensors` of a run, for all that can be rounded. `scales` of the reference are measured where they
    are not given; `stepped` are the names of what optimizers step."""
    if left.keys() != reference.keys():
        raise CaptureError(f"vary: found other tensors in two runs ({sorted(left.keys() ^ reference.keys())[0]}), expected the "
                           "same; make what the loop keeps in `make`")
    found = []
    for name, value in left.items():
        one, two = reals(value), reals(reference[name])
        if not can_round(value) or not one.numel():
            continue
        if one.shape != two.shape:
            raise CaptureError(f"vary: found {name} with extents {list(one.shape)} and {list(two.shape)} in two runs, expected "
                               "the same; make what the loop keeps in `make`")
        scale = scales[name] if scales else figure(scale_of(two))
        found.append({"name": name, "scale": scale, "max": 0.0 if one is two else figure(distance_of(one, two)),
                      **({"stepped": True} if name in stepped else {})})
    return found


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
        __tracebackhide__ = True  # pytest leaves this frame out
        if not self.passed:
            raise VaryFailed(f"{self.sentence}\n{self.page}")


def make_folder(folder, name):
    """Makes a folder to write to."""
    try:
        os.makedirs(folder, exist_ok=True)
    except (OSError, TypeError) as problem:
        raise CaptureError(f"{name}: found {folder} ({getattr(problem, 'strerror', None) or problem}), expected a folder that can be written; "
                           "name one") from None


def write_document(folder, document):
    path = os.path.join(folder, FILE)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(document, file, allow_nan=False)
    os.replace(path + ".new", path)


def ask_program(program, folder):
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
        write_document(folder, document)
        answer = ask_program(program, folder)
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
        make_folder(out, "out")
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
