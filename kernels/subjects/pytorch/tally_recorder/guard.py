"""The recorder neither changes nor ends the program that it watches: what goes wrong inside of it ends the recording."""
import contextlib
import functools
import os
import traceback

from .errors import CaptureError

HERE = os.path.dirname(os.path.abspath(__file__))


def told(problem):
    """One line: what a CaptureError says, of any other exception what it is and where the recorder raised it."""
    if isinstance(problem, CaptureError):
        return str(problem)
    own = [frame for frame in traceback.extract_tb(problem.__traceback__) if frame.filename.startswith(HERE)]
    place = f"{os.path.basename(own[-1].filename)}:{own[-1].lineno}" if own else "its hooks"
    said = " ".join(str(problem).split())[:200]
    return f"the recorder itself failed in {place} ({type(problem).__name__}: {said}); please report it with the loop"


class Guard:
    """Every call of the loop into the recorder goes through one. The first problem is kept, and ends the recording."""

    def __init__(self):
        self.problem = None

    def tried(self, function, *args, otherwise=None, **named):
        """What it returns; `otherwise` where it raises, and ever after."""
        if self.problem is not None:
            return otherwise
        try:
            return function(*args, **named)
        except Exception as problem:  # pylint: disable=broad-except
            self.problem = problem
            return otherwise

    def hook(self, function):
        """A hook of a tensor."""
        return functools.partial(self.tried, function)

    def of_module(self, function):
        return ModuleHook(self, function)

    def listener(self, target):
        return Listener(self, target)


class ModuleHook:
    """A hook of a module. Copies of the module, in memory or in a file, have in its place one that does nothing, and that
    can be read where there is no recorder."""

    def __init__(self, guard, function):
        self.guard, self.function = guard, function

    def __call__(self, *args, **named):
        return self.guard.tried(self.function, *args, **named)

    def __reduce__(self):
        return getattr, (contextlib.nullcontext(), "__exit__")


class Listener:
    """Hands calls on to `target`."""

    def __init__(self, guard, target):
        self.guard, self.target = guard, target

    def __getattr__(self, name):
        found = getattr(self.target, name)
        return functools.partial(self.guard.tried, found) if callable(found) else found
