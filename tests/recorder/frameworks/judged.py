"""What `tally check` says of a loop of a framework."""
import io
import re
import tempfile

import tally_recorder


def recorded_by(level, **options):
    """What makes a loop's recorder."""
    def record(model, optimizer, micro_batches):
        return tally_recorder.Recorder(model, optimizer, micro_batches, level=level, **options)
    return record


def judged(loop, rows, level="state", **options):
    """The exit code, and all that was printed."""
    return verdict(loop(recorded_by(level, **options), rows))


def verdict(recorder, options=()):
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        code = recorder.check(folder, show=lambda line: print(line, file=said), options=options)
    return code, said.getvalue()


def cause(said):
    """The name that stands on top, or nothing."""
    found = re.search(r"^  looks like (\S+)", said, re.MULTILINE)
    return found.group(1) if found else ""
