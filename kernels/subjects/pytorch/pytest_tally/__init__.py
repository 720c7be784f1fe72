"""pytest's fixture `tally`: a test varies a training step, or records a loop, and fails with the verdict's sentence.

No import here waits for PyTorch, as pytest imports this wherever the package is installed."""
import contextlib
import inspect
import os
import re
import tempfile

import pytest


def pytest_addoption(parser):
    parser.getgroup("tally").addoption("--tally-out", metavar="FOLDER", help="keep what the fixture tally runs and records, "
                                       "each test in a folder of FOLDER")


def pytest_configure(config):
    config.addinivalue_line("markers", "tally(**options): options of tally.vary and of the recorder in this test, such as "
                            "rows=8, windows=2")


@pytest.fixture
def tally(request):
    """`tally.vary(step, make=, data=)` and `tally.record(model, optimizer, micro_batches)`."""
    options = {}
    for marker in reversed(list(request.node.iter_markers("tally"))):  # the test's own comes last
        options.update(marker.kwargs)
    out = request.config.getoption("--tally-out")
    return Tally(options, out and os.path.join(out, re.sub(r"[^\w.-]+", "-", request.node.nodeid)))


def fails(lines):
    """Ends the test: the verdict, which is the last line that is no detail of another and its own details, stands first."""
    said = "\n".join(lines).split("\n")
    at = max(i for i, line in enumerate(said) if not line.startswith(" "))
    pytest.fail("\n".join([*said[at:], *said[:at]]), pytrace=False)


def tried(work, *arguments, **options):
    """What cannot be varied or recorded fails the test in one line."""
    from tally_recorder import CaptureError
    try:
        return work(*arguments, **options)
    except CaptureError as problem:
        line = f"error: {problem}"
    return fails([line])


def options_of(function, but):
    return {name for name, found in inspect.signature(function).parameters.items() if found.kind is found.KEYWORD_ONLY} - but


class Tally:
    """`options` are the test's markers', `out` the folder of the test, or None."""

    def __init__(self, options, out):
        self.options, self.out, self.count = options, out, 0

    def marked(self, wanted):
        """The markers' options of `vary` or of `record`; one that is neither's fails the test."""
        from tally_recorder import Recorder, vary
        known = {"vary": options_of(vary, {"make", "data"}), "record": options_of(Recorder.__init__, {"watch"})}
        every = sorted(known["vary"] | known["record"])
        for name in self.options:
            if name not in every:
                fails([f"error: mark tally: found {name}, expected one of {', '.join(every)}; name an option of tally.vary or of "
                       "tally.record"])
        return {name: value for name, value in self.options.items() if name in known[wanted]}

    @contextlib.contextmanager
    def folder(self):
        """A folder for each call: in the test's folder, or for a while."""
        self.count += 1
        if self.out:
            yield os.path.join(self.out, f"{self.count:02d}")
        else:
            with tempfile.TemporaryDirectory(prefix="tally-") as near:
                yield near

    def vary(self, step, *, make, data, **further):
        """The verdict of `tally_recorder.vary`, whose failure is the test's."""
        from tally_recorder import vary
        options = {**self.marked("vary"), **further}
        if self.out and "out" in options_of(vary, set()):
            with self.folder() as folder:
                options.setdefault("out", folder)
        verdict = tried(vary, step, make=make, data=data, **options)
        if not verdict.passed:
            fails([verdict.sentence, f"  page: {verdict.page}"])
        return verdict

    @contextlib.contextmanager
    def record(self, model, optimizer, micro_batches, **further):
        """Records what is done inside; where that does not pass, or was not judged, the test fails."""
        from tally_recorder import Recorder
        recorder = tried(Recorder, model, optimizer, micro_batches, **{**self.marked("record"), **further})
        with recorder:
            yield recorder
        lines = []
        with self.folder() as folder:
            code = recorder.check(folder, show=lines.append)
        if code:
            fails(lines)
