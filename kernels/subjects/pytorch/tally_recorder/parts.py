"""What one rank recorded, as files of its own: rank 0, or whoever merges later, makes one capture of all."""
import json
import os
import shutil
import tempfile

from . import safetensors_file
from .errors import CaptureError
from .scratch import CHUNK, Kept

DTYPES = {name: dtype for dtype, name in safetensors_file.NAMES.items()}
TENSORS, TAPS, SAID = "case.safetensors", "trace.safetensors", "part.json"


def folder_of(folder, rank):
    return os.path.join(folder, f"rank-{rank}")


def write(folder, rank, scratch, said, tensors, taps):
    """One rank's part; `said` is all that is no tensor. An older one is replaced as a whole."""
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".recording-", dir=folder) as near:
        fresh = os.path.join(near, "part")
        os.mkdir(fresh)
        safetensors_file.write(os.path.join(fresh, TENSORS), tensors, scratch, {})
        safetensors_file.write(os.path.join(fresh, TAPS), taps, scratch, {})
        with open(os.path.join(fresh, SAID), "w", encoding="utf-8") as file:
            json.dump({"tally_part": 1, **said}, file, indent=1)
        place = folder_of(folder, rank)
        if os.path.isdir(place) and is_part(place):
            shutil.rmtree(place)
        os.rename(fresh, place)


def is_part(place):
    return os.path.isfile(os.path.join(place, SAID)) and set(os.listdir(place)) <= {TENSORS, TAPS, SAID}


def ranks_in(folder):
    """The ranks that left a part there, in order."""
    names = [name for name in os.listdir(folder) if name.startswith("rank-") and name[5:].isdigit()]
    return sorted(int(name[5:]) for name in names)


class InFile(Kept):
    """A tensor that lies in a file."""
    __slots__ = ("path",)

    def __init__(self, path, offset, size, dtype, shape):
        super().__init__(offset, size, dtype, shape)
        self.path = path

    def rows(self, first, count):
        """Neighbouring rows of it."""
        width = self.size // self.shape[0] if self.shape[0] else 0
        return InFile(self.path, self.offset + first * width, count * width, self.dtype, (count, *self.shape[1:]))


class Part:
    """One rank's part, read: `said`, and its tensors and taps by name."""

    def __init__(self, folder, rank):
        place = folder_of(folder, rank)
        try:
            with open(os.path.join(place, SAID), encoding="utf-8") as file:
                self.said = json.load(file)
            if self.said.get("tally_part") != 1:
                raise ValueError("no part of a capture")
            self.tensors, self.taps = (tensors_in(os.path.join(place, name)) for name in (TENSORS, TAPS))
        except (OSError, ValueError, AttributeError, KeyError) as problem:
            raise CaptureError(f"{place}: found {problem}, expected what rank {rank} recorded; record all ranks again "
                               "into an empty folder") from None


def tensors_in(path):
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    found = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            found[name] = InFile(path, 8 + size + begin, end - begin, DTYPES[entry["dtype"]], entry["shape"])
    return found


class Files:
    """In the place of a scratch file: copies tensors out of the files that they lie in."""

    @staticmethod
    def copy(kept, into):
        with open(kept.path, "rb") as file:
            file.seek(kept.offset)
            left = kept.size
            while left:
                piece = file.read(min(left, CHUNK))
                if not piece:
                    raise CaptureError(f"{kept.path}: found its end too early, expected a whole file; record again")
                into.write(piece)
                left -= len(piece)
