"""What the recorder says of a loop, for tests."""
import tempfile

PASS, FAIL, ERROR, UNJUDGED = 0, 1, 2, 4


def verdict_of(recorder, options=()):
    """The exit code, and all lines."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        code = recorder.check(folder, show=lines.append, options=options)
    return code, "\n".join(lines)


def headline(said):
    """How the verdict begins: the last line that is no detail of another."""
    return next(line for line in reversed(said.splitlines()) if not line.startswith(" "))
