"""The user's code: what keeps the recorder from changing or ending it, and where in it something was called."""
import contextlib
import functools
import json
import linecache
import os
import random
import re
import sys
import sysconfig
import traceback

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
MACHINERY = tuple(os.path.dirname(os.path.abspath(file)) + os.sep for file in (__file__, torch.__file__))
LIBRARIES = tuple(folder + os.sep for folder in (os.path.dirname(os.path.dirname(torch.__file__)), *(
    sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))))  # Debian keeps its own elsewhere
TYPED = ("<stdin>", "<ipython-input")  # other code without a file was made by a library


class CaptureError(Exception):
    """Something that no capture can be made of: one line with place, what was found, what was expected, what to do."""


class Enough(BaseException):
    """Ends a script whose windows are all seen; no script's `except Exception` holds it up."""


def in_one_line(problem):
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


def unseen(method):
    """Runs a method outside of the mode that looks for losses: the recorder's own arithmetic is nobody's loss."""

    @functools.wraps(method)
    def run(*args, **kwargs):
        with torch._C.DisableTorchFunction():
            return method(*args, **kwargs)
    return run


class Hooked:
    """Hooks of PyTorch that are taken away together."""
    handles = ()

    def remove(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []


def held_by(optimizer):
    """The parameters in its groups."""
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


@contextlib.contextmanager
def generators_kept(devices=None):
    """All generators of random numbers are behind it as they were before; on all GPUs, or on these devices."""
    numpy = sys.modules.get("numpy")
    kept = random.getstate(), numpy and numpy.random.get_state()
    if devices is None:
        devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else []
    try:
        with torch.random.fork_rng(devices):
            yield
    finally:
        random.setstate(kept[0])
        if numpy:
            numpy.random.set_state(kept[1])


def seed_all(seed):
    torch.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def other_generators():
    """The state of Python's generator and of NumPy's."""
    numpy = sys.modules.get("numpy")
    return random.getstate(), numpy and str(numpy.random.get_state(legacy=False)["state"])


def put_everywhere(pairs):
    """Replaces objects, each by its other, in the namespaces of all modules that are loaded, also where they imported
    one by name."""
    other = {id(old): new for old, new in pairs}
    for module in list(sys.modules.values()):
        space = getattr(module, "__dict__", None)
        if isinstance(space, dict) and not other.keys().isdisjoint(map(id, list(space.values()))):
            for name in [name for name, value in list(space.items()) if id(value) in other]:
                space[name] = other[id(space[name])]


def own_frame_of(frames, file_of):
    """The user's own frame among these, the innermost first, or else one of neither PyTorch nor the recorder; None
    where there is none."""
    outside = None
    for frame in frames:
        file = file_of(frame)
        if file.startswith(MACHINERY) or file.startswith("<") and not file.startswith(TYPED):
            continue
        if not file.startswith(LIBRARIES):
            return frame
        outside = outside or frame
    return outside


def file_of(frame):
    return frame.f_code.co_filename


def callers():
    """The innermost first."""
    frame = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def caller():
    """The frame that called, as `own_frame_of` has it."""
    return own_frame_of(callers(), file_of)


def place_of(frame):
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "the loop"


def place_of_call():
    """File and line of the caller."""
    return place_of(caller())


def way_of_call():
    """Files and lines of all callers outside of PyTorch and the recorder: two calls by one helper differ in theirs."""
    return tuple((file_of(frame), frame.f_lineno) for frame in callers() if not file_of(frame).startswith(MACHINERY))


def name_in(frame, value):
    """The name of a variable of this frame that holds the value; None where none does."""
    if frame is None:
        return None
    return next((name for name, held in list(frame.f_locals.items()) if held is value), None)


def shown(file):
    """A file below the working directory by its path from there."""
    try:
        near = os.path.relpath(file)
    except OSError:  # the working directory is gone
        return file
    return file if near.startswith(os.pardir) else near


class Places:
    """The first call of each kind: `loss`, `backward`, `unscale`, `clip`, `step`."""

    def __init__(self):
        self.found = {}

    def saw(self, kind):
        frame = caller() if kind not in self.found else None
        if frame is not None:
            file, line = frame.f_code.co_filename, frame.f_lineno
            self.found[kind] = {"file": shown(file), "line": line, "text": linecache.getline(file, line).strip()[:200]}

    def text(self):
        """The trace's metadata entry; empty where nothing was seen."""
        return json.dumps(self.found) if self.found else ""


def own_frame(frames):
    """The user's own frame among these, the innermost last."""
    return own_frame_of(reversed(frames), lambda frame: frame.filename)


def place_of_frames(frames):
    """The place of these frames as an entry of vary.json."""
    frame = own_frame(frames)
    return frame and {"file": frame.filename, "line": frame.lineno, "text": linecache.getline(frame.filename, frame.lineno).strip()}


def frames_of(formatted):
    """The frames of a formatted stack, the innermost last."""
    found = re.finditer(r'^  File "(.*)", line (\d+), in (.*)$', "".join(formatted), re.MULTILINE)
    return [traceback.FrameSummary(match[1], int(match[2]), match[3]) for match in found]


def here():
    return place_of_frames(traceback.extract_stack())
