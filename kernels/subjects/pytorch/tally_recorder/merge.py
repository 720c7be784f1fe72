"""python -m tally_recorder.merge FOLDER: makes one capture of the parts that ranks left in FOLDER, and has it judged."""
import argparse
import json
import os
import shutil
import sys
import tempfile

from . import verdict
from .capture.segment import CHUNK, Kept
from .user_code import CaptureError
from .verdict import concluded

DTYPES = {name: dtype for dtype, name in verdict.DTYPE_NAMES.items()}
PART_TENSORS, PART_TAPS, PART_SAID = "case.safetensors", "trace.safetensors", "part.json"
ROWS = ("x", "tokens", "target", "positions")
ALIKE = {"model": "networks", "normalisation": "normalisations", "precision": "formats", "recipe": "recipes",
         "execution": "ways to add up"}
RECORD_AGAIN = "record all ranks again, into an empty folder"


def folder_of(folder, rank):
    return os.path.join(folder, f"rank-{rank}")


def write_part(folder, rank, scratch, said, tensors, taps):
    """One rank's part; `said` is all that is no tensor. An older one is replaced as a whole."""
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".recording-", dir=folder) as near:
        fresh = os.path.join(near, "part")
        os.mkdir(fresh)
        verdict.write_tensors(os.path.join(fresh, PART_TENSORS), tensors, scratch, {})
        verdict.write_tensors(os.path.join(fresh, PART_TAPS), taps, scratch, {})
        with open(os.path.join(fresh, PART_SAID), "w", encoding="utf-8") as file:
            json.dump({"tally_part": 1, **said}, file, indent=1)
        place = folder_of(folder, rank)
        if os.path.isdir(place) and is_part(place):
            shutil.rmtree(place)
        os.rename(fresh, place)


def is_part(place):
    return os.path.isfile(os.path.join(place, PART_SAID)) and set(os.listdir(place)) <= {PART_TENSORS, PART_TAPS, PART_SAID}


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
            with open(os.path.join(place, PART_SAID), encoding="utf-8") as file:
                self.said = json.load(file)
            if self.said.get("tally_part") != 1:
                raise ValueError("no part of a capture")
            self.tensors, self.taps = (tensors_in(os.path.join(place, name)) for name in (PART_TENSORS, PART_TAPS))
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
    """Stands in for a scratch file: copies tensors out of the files that they lie in."""

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


def parts_of(folder, size=None):
    """All ranks' parts, by rank; an error where one is missing, or is of another run."""
    try:
        there = ranks_in(folder)
    except OSError as problem:
        raise CaptureError(f"{folder}: found {problem.strerror}, expected the parts of all ranks; pass the folder that "
                           "they were recorded to") from None
    if not there:
        raise CaptureError(f"{folder}: found no folder rank-0, expected the parts of all ranks; pass the folder that "
                           "they were recorded to")
    all_parts = {rank: Part(folder, rank) for rank in there}
    size = size or max(part.said["ranks"] for part in all_parts.values())
    for rank, part in all_parts.items():
        if part.said["ranks"] != size:
            raise CaptureError(f"rank {rank}: found a part of {part.said['ranks']} ranks, expected one of {size} as the "
                               f"others are; {RECORD_AGAIN}")
    missing = sorted(set(range(size)) - set(all_parts))
    if missing:
        raise CaptureError(f"rank {missing[0]}: found no part of it in {folder}, expected those of ranks 0 to {size - 1}; "
                           "call check on every rank, and copy the folders of all machines into one")
    for rank in range(1, size):
        if all_parts[rank].said["run"] != all_parts[0].said["run"]:
            raise CaptureError(f"rank {rank}: found a part of another run than rank 0's, expected one run; {RECORD_AGAIN}")
    return [all_parts[rank] for rank in range(size)]


def require_alike(all_parts):
    """What a case states once, every rank states alike."""
    first = all_parts[0].said["case"]
    for rank, part in enumerate(all_parts[1:], 1):
        case = part.said["case"]
        for key, many in ALIKE.items():
            for name, ours, theirs in differences(key, first[key], case[key]):
                raise CaptureError(f"rank {rank}, {name}: found {shown(theirs)}, expected {shown(ours)} as of rank 0; a "
                                   f"case states one for all ranks, record ranks whose {many} are alike")
        if len(case["windows"]) != len(first["windows"]):
            raise CaptureError(f"rank {rank}: found {len(case['windows'])} windows, expected {len(first['windows'])} as of "
                               "rank 0; record as many on every rank (windows=)")
        if part.said["claims"] != all_parts[0].said["claims"]:
            raise CaptureError(f"rank {rank}: found {part.said['claims']['subject']} with other claims than rank 0, "
                               "expected one PyTorch on one kind of device; record ranks that run alike")


def shown(value):
    text = json.dumps(value)
    return text if len(text) < 100 else text[:96] + " …"


def differences(name, ours, theirs):
    """Places where two sections differ, the innermost."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            yield from differences(f"{name}.{key}", ours.get(key), theirs.get(key))
    elif ours != theirs:
        yield name, ours, theirs


def has_rows(name):
    return name in ROWS or name.endswith(".mask")


def cut(all_parts):
    """(rank, part, first row, rows) of every micro-batch, in the order of the case: by window, by rank."""
    row = [0] * len(all_parts)
    for window in range(len(all_parts[0].said["case"]["windows"])):
        for rank, part in enumerate(all_parts):
            for count in part.said["case"]["windows"][window]:
                yield part, row[rank], count
                row[rank] += count


def sequences_of(all_parts):
    """The lengths of the sequences, in the order of the rows."""
    ends = [0] * len(all_parts)
    found = []
    for part, first, count in cut(all_parts):
        at = all_parts.index(part)
        rows = 0
        while rows < count:
            length = part.said["case"]["sequences"][ends[at]]
            found.append(length)
            rows, ends[at] = rows + length, ends[at] + 1
    return found


def whole(all_parts):
    """The case, its tensors and the taps of all ranks, each under its rank."""
    first = all_parts[0].said["case"]
    case = {**first, "windows": [[part.said["case"]["windows"][w] for part in all_parts]
                                 for w in range(len(first["windows"]))]}
    if "sequences" in first:
        case["sequences"] = sequences_of(all_parts)
    tensors = {}
    for part in all_parts:
        for name, kept in part.tensors.items():
            if not has_rows(name) and (name not in tensors or part.said["sharded"] and kept.shape):
                tensors.setdefault(name, []).append(kept)  # the rows of every rank, of a parameter that they share
    for part, row, count in cut(all_parts):
        for name, kept in part.tensors.items():
            if has_rows(name):
                tensors.setdefault(name, []).append(kept.rows(row, count))
    taps = {}
    for rank, part in enumerate(all_parts):
        for name, kept in part.taps.items():
            window, _, rest = name.partition("/")
            taps[f"{window}/r{rank}/{rest}"] = [kept]
    lend(all_parts, taps)
    return case, tensors, taps


def lend(all_parts, taps):
    """Gives every rank the state of a parameter that one rank steps, as the case gives it to all."""
    owners = {name: rank for rank, part in enumerate(all_parts) for name in part.said.get("owns", [])}
    for name, kept in list(taps.items()):
        window, rank, rest = name.split("/", 2)
        stage, _, tensor = rest.partition("/")
        bare = tensor[3:] if tensor.startswith("in.") else tensor
        _, _, parameter = bare.partition(".")
        if stage == "optimizer" and owners.get(parameter) == int(rank[1:]):
            for other in range(len(all_parts)):
                taps.setdefault(f"{window}/r{other}/{rest}", kept)


def notes(all_parts):
    """What rank 0 says, and what others say besides."""
    known, found = set(all_parts[0].said["lines"]), list(all_parts[0].said["lines"])
    for rank, part in enumerate(all_parts[1:], 1):
        for line in part.said["lines"]:
            if line not in known:
                known.add(line)
                found.append(f"rank {rank}: {line}")
    return found


def merged(folder, tally, size=None, show=print, options=()):
    """Merges the parts of `folder`, has `tally check` judge what they make and shows its verdict. Returns its exit code, 2
    where they make no capture."""
    try:
        program = verdict.command(tally)
        verdict.is_free(folder)
        all_parts = parts_of(folder, size)
        problems = [f"rank {rank}: {line}" for rank, part in enumerate(all_parts) for line in part.said["problems"]]
        if not problems:
            require_alike(all_parts)
            case, tensors, taps = whole(all_parts)
            seen = all_parts[0].said["seen"]
            verdict.write(folder, program, Files, case, tensors, taps, all_parts[0].said["claims"], seen=seen,
                          places=all_parts[0].said.get("places", ""),
                          assumptions="\n".join(notes(all_parts)))
    except (CaptureError, OSError) as problem:
        show(f"error: {problem}")
        return 2
    lines = notes(all_parts)
    for line in lines + [f"error: {line}" for line in problems]:
        show(line)
    if problems:
        return 2
    code, said = verdict.check(folder, program, options)
    wrong = dict.fromkeys(line for part in all_parts for line in part.said.get("wrong", []))
    return concluded(code, said, lines, list(wrong), show)


def main():
    parser = argparse.ArgumentParser(prog="python -m tally_recorder.merge", description="Makes one capture of the parts "
                                     "that ranks recorded, and has `tally check` judge it. Exits with its code.")
    parser.add_argument("folder", help="the folder with rank-0, rank-1, …")
    parser.add_argument("--ranks", type=int, help="how many there were (as their parts say)")
    parser.add_argument("--tally", help="the program (the variable TALLY, the wheel's, or the PATH's)")
    options = parser.parse_args()
    return merged(options.folder, options.tally, options.ranks)


if __name__ == "__main__":
    sys.exit(main())
