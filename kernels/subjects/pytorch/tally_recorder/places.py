"""Where in the user's program something was called: file, line and its text, and by what name it is known there."""
import json
import linecache
import os
import sys
import sysconfig

import torch

MACHINERY = tuple(os.path.dirname(os.path.abspath(file)) + os.sep for file in (__file__, torch.__file__))
LIBRARIES = tuple(folder + os.sep for folder in (os.path.dirname(os.path.dirname(torch.__file__)), *(
    sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))))  # Debian keeps its own elsewhere

TYPED = ("<stdin>", "<ipython-input")  # other code without a file was made by a library


def own_frame_of(frames, file_of):
    """Of frames, the innermost first: that of the user's program, or at least of neither PyTorch nor the recorder; None where
    there is none."""
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
