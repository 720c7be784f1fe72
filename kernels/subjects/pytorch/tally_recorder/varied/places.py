"""Where in the user's program something happens."""
import linecache
import re
import traceback

from ..places import own_frame_of


def own_frame(frames):
    """Of frames, the innermost last, that of the user's program."""
    return own_frame_of(reversed(frames), lambda frame: frame.filename)


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
