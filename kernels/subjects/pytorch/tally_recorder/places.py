"""Where in the user's program something was called: file, line and its text, and by what name it is known there."""
import json
import linecache
import os
import sys

import torch

HERE, TORCH = os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.abspath(torch.__file__))


def caller():
    """The frame of the caller that is neither PyTorch nor the recorder; None where there is none."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((HERE + os.sep, TORCH + os.sep)):
        frame = frame.f_back
    return frame


def place_of(frame):
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "the loop"


def place_of_call():
    """File and line of the caller."""
    return place_of(caller())


def way_of_call():
    """Files and lines of all callers outside of PyTorch and the recorder: two calls by one helper differ in theirs."""
    frame, way = caller(), []
    while frame is not None:
        if not frame.f_code.co_filename.startswith(TORCH):
            way.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(way)


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
