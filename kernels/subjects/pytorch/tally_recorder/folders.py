"""The folder of a capture: one that can be written, and that holds nothing of somebody else under the same names."""
import json
import os
import tempfile

from .errors import CaptureError

FILES = ("case.safetensors", "case.json", "trace.safetensors")
KEYS = {"tally_case", "name", "model", "windows", "normalisation", "precision", "recipe", "tensors"}
MAY_BE = {"sequences", "execution"}  # of language models, and of ranks
LONGEST = 1 << 26  # of a header that is read


def can_be_written(folder):
    """Refuses a folder that is none, and one that is not writable."""
    if not isinstance(folder, (str, os.PathLike)):
        raise CaptureError(f"the folder: found {folder!r}, expected a path; pass where the capture is to be written")
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".recording-", dir=folder):
            pass
    except OSError as problem:
        raise CaptureError(f"the folder: found {os.fspath(folder)} ({problem.strerror}), expected one that can be "
                           "written; pass another") from None


def is_free(folder):
    """Refuses a folder where a capture would replace a file that no recorder wrote."""
    for name in FILES:
        path = os.path.join(folder, name)
        if os.path.lexists(path) and not is_own(path):
            raise CaptureError(f"{path}: found a file that no recorder wrote, expected none or a capture; pass another "
                               "folder")


def is_own(path):
    """Whether a recorder wrote this file, as far as its keys say."""
    try:
        if path.endswith(".json"):
            with open(path, encoding="utf-8") as file:
                case = json.load(file)
            return isinstance(case, dict) and set(case) - MAY_BE == KEYS and case["tensors"] == {"file": FILES[0]}
        with open(path, "rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size)) if size < LONGEST else None
    except (OSError, ValueError):
        return False
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    if not isinstance(metadata, dict):
        return False
    return not metadata if path.endswith(FILES[0]) else {"tally_trace", "case", "claims"} <= set(metadata)
