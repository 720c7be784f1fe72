"""Where in the user's program something happens."""
import linecache
import os
import re
import sysconfig
import traceback

import torch

OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MACHINERY = (os.path.dirname(torch.__file__) + os.sep, OWN + os.sep)
LIBRARIES = tuple(folder + os.sep for folder in (os.path.dirname(os.path.dirname(torch.__file__)), *(
    sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))))  # Debian keeps its own elsewhere


def own_frame(frames):
    """The innermost frame of the user's program, or at least of neither PyTorch nor the recorder; None where there is none."""
    outside = [frame for frame in frames if not frame.filename.startswith((*MACHINERY, "<"))]
    own = [frame for frame in outside if not frame.filename.startswith(LIBRARIES)]
    return (own or outside or [None])[-1]


def place_of(frames):
    """The same as an entry of vary.json."""
    frame = own_frame(frames)
    return frame and {"file": frame.filename, "line": frame.lineno, "text": linecache.getline(frame.filename, frame.lineno).strip()}


def frames_of(formatted):
    """Of a formatted stack, innermost last."""
    found = re.finditer(r'^  File "(.*)", line (\d+), in (.*)$', "".join(formatted), re.MULTILINE)
    return [traceback.FrameSummary(match[1], int(match[2]), match[3]) for match in found]


def here():
    return place_of(traceback.extract_stack())
