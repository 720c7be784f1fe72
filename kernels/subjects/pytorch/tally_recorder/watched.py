"""A long run that is watched: one stretch of windows in so many is recorded, and judged beside the loop as it ends."""
import functools
import json
import os
import shutil
import threading

from . import verdict
from .capture.losses import SeesLosses
from .capture.steps import SeesSteps
from .ranks import several
from .recorder import Recorder
from .user_code import CaptureError, Guard, in_one_line
from .verdict import worst

BEHIND_THE_LOOP = ("nice", "-n", "19") if shutil.which("nice") else ()  # the program takes what processor time the loop leaves
WORDS = {0: "pass", 1: "fail", 2: "error", 4: "not judged"}


def windows_of(watch, windows):
    """How many windows a stretch has; refuses stretches with nothing between them."""
    windows = 1 if windows is None else windows
    if type(watch) is not int or watch <= windows:
        raise CaptureError(f"watch: found {watch!r}, expected a whole number above windows ({windows}); pass how many windows "
                           "lie between the beginnings of two stretches")
    return windows


def unheard(*_):
    """A loss between two stretches."""


def figures_of(code, documents):
    """What is handed to `report`: the exit code of `tally check`, and of its documents the largest error over its bound
    (r) and the drift, which is known from level `window` on where nothing is clipped."""
    figures = {"tally/verdict": code}
    if documents:
        figures["tally/r"] = max((float(check["worst_ratio"]) for each in documents for check in each["checks"]), default=0.0)
    drifts = [float(each["rounding_drift"]) for each in documents if "rounding_drift" in each]
    return {**figures, "tally/drift": max(drifts)} if drifts else figures


def written(path):
    """When a file was written; None where there is none."""
    return os.stat(path).st_mtime_ns if os.path.exists(path) else None


def conclusion(said):
    """The last line of a verdict that is no detail of another."""
    return next(line for line in reversed(said.splitlines()) if not line.startswith(" "))


class Stretch:
    """The windows from `first` on, judged in a thread of its own, which waits for the program."""

    def __init__(self, first, folder):
        self.first, self.folder, self.code, self.documents, self.thread = first, folder, 2, [], None
        self.lines, self.verdicts = [], []  # what was noted, and what each case of the stretch came to

    def tried(self, work, *arguments):
        """What `work` gives; what goes wrong is the stretch's verdict."""
        try:
            return work(*arguments)
        except Exception as problem:  # pylint: disable=broad-except
            self.code = 2
            self.verdicts.append(f"error: {in_one_line(problem)}")
            return None

    def judge(self, recorder, program):
        """What the loop may change is read now, the rest in the thread."""
        stated = self.tried(lambda: [(segment, recorder.stated(segment, ())) for segment in recorder.whole()])
        if stated:
            self.thread = threading.Thread(target=self.tried, daemon=True, args=(self.judged, recorder, stated, program))
            self.thread.start()

    def judged(self, recorder, stated, program):
        codes = []
        for segment, said in stated:
            folder = recorder.folder_of(self.folder, segment)
            document = os.path.join(folder, "check.json")
            before = written(document)
            codes.append(recorder.judged(segment, said, folder, program, self.lines.append, ("--out", folder), BEHIND_THE_LOOP))
            self.verdicts.append(conclusion(self.lines.pop()))
            if written(document) != before:
                with open(document, encoding="utf-8") as file:
                    self.documents.append(json.load(file))
        self.code = worst(codes)

    def runs(self):
        return self.thread is not None and self.thread.is_alive()


class Watched:
    """Stretches of `windows` windows each, the first at window `start`, then every `watch` windows; each has a folder
    in `out`. Windows are counted between them by the optimizer's steps, and nothing else is looked at. `show` and
    `report(step, figures)` are called by the loop's own thread, at the step behind which a stretch was judged. A
    stretch that is due while the one before is still being judged is left out, and this is said."""

    def __init__(self, model, optimizer, micro_batches, *, watch, report=None, out="tally-out/watched", tally=None, show=print,
                 windows=1, start=0, **options):
        windows = windows_of(watch, windows)
        if several() and options.get("ranks") is not False:
            raise CaptureError("watch: found several processes, expected one, as ranks are judged together at the end; pass "
                               "every= in its place, or ranks=False")
        self.program, self.out = verdict.command(tally), out
        verdict.can_be_written(out)
        self.make = functools.partial(Recorder, model, optimizer, windows=windows, **options)
        self.watch, self.report, self.show, self.micro_batches = watch, report, show, micro_batches
        self.optimizer, self.guard = optimizer, Guard()
        self.recorder = self.make(micro_batches, start=start)  # attached when its window comes
        if not isinstance(self.recorder, Recorder):
            raise CaptureError("watch: found several optimizers, or parameters in a format that no case has, expected one optimizer over "
                               "parameters in fp32, fp16 or bf16; pass every= in its place")
        self.model = self.recorder.model
        self.window, self.due = 0, start  # the next window of the loop, and of a stretch
        self.recording, self.judging, self.codes, self.said, self.passed_over = False, None, {}, set(), 0
        self.mode = self.steps = None

    @property
    def capture(self):
        """The capture of the stretch that is being recorded; None between two."""
        return self.recorder.capture if self.recording else None

    def heard(self, *call):
        if self.recording:
            self.recorder.heard(*call)

    def items(self, *args, **named):
        """As Recorder.items."""
        if self.recording:
            self.recorder.items(*args, **named)

    def __enter__(self):
        self.mode = SeesLosses(unheard)
        self.attach()
        self.mode.__enter__()
        return self

    def attach(self, clips=None):
        """As Recorder.attach."""
        self.steps = SeesSteps(self.optimizer, self.guard.listener(self))
        self.guard.tried(self.between, clips)

    def step_begins(self):
        pass

    def step_ends(self):
        self.window += 1
        self.between()

    def between(self, clips=None):
        """Ends and begins stretches, behind a step and before the first: one ends when the windows behind it have
        begun."""
        if self.recording and (self.capture.segments and self.capture.segment is None or self.capture.guard.problem is not None):
            self.stretch_ends()
        self.deliver()
        if not self.recording and self.window >= self.due:
            self.stretch_begins(clips)

    def stretch_begins(self, clips):
        first, self.due = self.window, self.window + self.watch
        if self.judging is not None:
            self.show(f"window {first}: not watched, as window {self.judging.first} is still being judged")
            self.passed_over += 1
            return
        if self.recorder is None:
            try:
                self.recorder = self.make(self.micro_batches, start=first)
            except CaptureError as problem:
                self.judging = Stretch(first, "")
                self.judging.verdicts.append(f"error: {problem}")
                return
        self.recorder.capture.count = self.recorder.meaning.first_of(first)
        self.recorder.attach(clips)
        if self.mode is not None:
            self.mode.called, self.mode.layers, self.mode.silent = self.recorder.listeners()
        self.recording = True

    def stretch_ends(self, kind=None):
        recorder, self.recorder, self.recording = self.recorder, None, False
        if self.mode is not None:
            self.mode.called, self.mode.layers, self.mode.silent = unheard, None, None
        recorder.__exit__(kind)
        first, capture = recorder.capture.plan.start, recorder.capture
        if not capture.segments and capture.guard.problem is None:
            if capture.count > recorder.meaning.first_of(first):
                self.show(f"window {first}: not watched, as the loop ended before its step")
            return
        self.judging = Stretch(first, os.path.join(self.out, f"{first:06d}"))
        self.judging.judge(recorder, self.program)

    def deliver(self):
        """Says what a stretch that has been judged came to."""
        if self.judging is None or self.judging.runs():
            return
        done, self.judging = self.judging, None
        for line in done.lines:
            if line not in self.said:
                self.said.add(line)
                self.show(line)
        figures = figures_of(done.code, done.documents)
        r = f", r {figures['tally/r']:.3g}" if "tally/r" in figures else ""
        self.show(f"window {done.first}{r}: {'; '.join(done.verdicts)}")
        self.codes[done.first] = done.code
        if self.report is not None:
            try:
                self.report(done.first, figures)
            except Exception as problem:  # pylint: disable=broad-except
                self.show(f"error: report: found {type(problem).__name__} ({problem}), expected a call that returns; it is "
                          "called no more")
                self.report = None

    def wait(self):
        if self.judging is not None and self.judging.thread is not None:
            self.judging.thread.join()
        self.deliver()

    def __exit__(self, kind, *_):
        if self.mode is not None:
            self.mode.__exit__(None, None, None)
        self.guard.tried(self.ends, kind)
        if self.recording:  # something went wrong before the stretch was left
            self.recorder.__exit__(kind)
        self.steps.remove()
        if self.guard.problem is not None:
            self.show(f"error: nothing was watched from window {self.window} on: {in_one_line(self.guard.problem)}")
            self.codes[self.window] = 2

    def ends(self, kind):
        self.wait()
        if self.recording:
            self.stretch_ends(kind)
            self.wait()

    def check(self):
        """The worst exit code of all stretches, as Recorder.check gives it; each has been said as it was judged."""
        if not self.codes:
            self.show(f"error: the loop: found {self.window} steps and no whole window to watch, expected one; watch a longer "
                      "loop, or from an earlier start")
            return 2
        code = worst(self.codes.values())
        first = min(window for window, found in self.codes.items() if found == code)
        count, wrong = len(self.codes), sum(found != 0 for found in self.codes.values())
        came = f"{wrong} did not pass; {WORDS.get(code, code)} at window {first}" if wrong else "all pass" if count > 1 else "it passes"
        left = f"; {self.passed_over} more {'were' if self.passed_over > 1 else 'was'} due while one was being judged, and not watched"
        self.show(f"watched {count} stretch{'es' * (count > 1)} in {self.out}: {came}{left if self.passed_over else ''}")
        return code
