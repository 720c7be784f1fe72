"""The files of a capture, `tally check` of them, and how its verdict ends."""
import json
import os
import shutil
import subprocess
import tempfile

import tally_program
import torch

from .report import INTO_PARAMETERS, ITEMS, PROPOSAL
from .user_code import CaptureError

DTYPE_NAMES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64", torch.uint8: "U8"}
DTYPE_BYTES = {torch.float32: 4, torch.float16: 2, torch.bfloat16: 2, torch.int64: 8, torch.uint8: 1}
FILES = ("case.safetensors", "case.json", "trace.safetensors")
CASE_KEYS = {"tally_case", "name", "model", "windows", "normalisation", "precision", "recipe", "tensors"}
OPTIONAL_KEYS = {"sequences", "execution"}  # language models have the first, ranks the second
LONGEST_HEADER = 1 << 26  # a header that is read, in bytes
# What is not judged and is no parameter, with the words of the last line.
WORDS_OF_UNJUDGED = {
    "not judged: the loss": "", "not judged: forward": "", "not judged: the batch statistics": "batch statistics",
    "not judged: what came after": "later windows", "not judged: a term of the loss": "a term of the loss",
    "not judged: the optimizer's algorithm": "the optimizer's algorithm", "not judged: the optimizer's step": "the optimizer's step",
    "not judged: what is stated": "what is stated of the optimizer", "not judged: what changes": "what is changed after a step",
    "not judged: a change of the gradients": "a change of the gradients", "not judged: a clip": "a clip",
    "not judged: a window without a step": "windows without a step"}
LOOK_AT = "look at "  # how a line begins that says what no case states and a reader is to decide: "look at WHAT: …"
SOME_UNJUDGED = "pass, but some tensors could not be judged"  # as `tally check` says it
OFF_BY_A_FACTOR = "looks like off-by-a-factor"  # which says no cause
VARY_NEXT = "next: the same rows in other micro-batches show what a recording cannot: python -m tally_recorder vary … (vary.md)"


def shape_of(parts):
    """The shape of parts that follow each other along the first dimension."""
    first = parts[0].shape
    return list(first) if len(parts) == 1 else [sum(part.shape[0] for part in parts), *first[1:]]


def write_tensors(path, tensors, scratch, metadata):
    """`tensors` gives the parts of each tensor by name. Wide elements come first, so that all are aligned."""
    header, at = {"__metadata__": metadata}, 0
    order = sorted(tensors, key=lambda name: -DTYPE_BYTES[tensors[name][0].dtype])
    for name in order:
        parts = tensors[name]
        size = sum(part.size for part in parts)
        header[name] = {"dtype": DTYPE_NAMES[parts[0].dtype], "shape": shape_of(parts), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            for part in tensors[name]:
                scratch.copy(part, file)


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
            return isinstance(case, dict) and set(case) - OPTIONAL_KEYS == CASE_KEYS and case["tensors"] == {"file": FILES[0]}
        with open(path, "rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size)) if size < LONGEST_HEADER else None
    except (OSError, ValueError):
        return False
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    if not isinstance(metadata, dict):
        return False
    return not metadata if path.endswith(FILES[0]) else {"tally_trace", "case", "claims"} <= set(metadata)


def command(given):
    """The program: an argument, the variable TALLY, the one that was installed with the recorder, or what the path finds."""
    found = given or os.environ.get("TALLY") or tally_program.path() or shutil.which("tally")
    if not found or not shutil.which(found):
        raise CaptureError(f"tally: found {found or 'no program'}, expected one that runs; pass tally=, set TALLY or "
                           "put it on the PATH")
    run(found, "--help")
    return found


def run(tally, *arguments, before=()):
    """The program's end; one clear line where the system cannot run it. `before` are words that run it."""
    try:
        return subprocess.run([*before, tally, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except (OSError, UnicodeDecodeError) as problem:
        raise CaptureError(f"tally: found {tally} ({problem}), expected the program tally; pass tally= or set TALLY") \
            from None


def write(folder, tally, scratch, case, tensors, taps, claims, **further):
    """`further` entries of the trace's metadata, empty ones left out. All three files are whole before the first replaces an older one."""
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".recording-", dir=folder) as near:
        write_tensors(os.path.join(near, FILES[0]), tensors, scratch, {})
        with open(os.path.join(near, FILES[1]), "w", encoding="utf-8") as file:
            json.dump(case, file, indent=1)
        metadata = {"tally_trace": "1", "case": hash_of(tally, os.path.join(near, FILES[1])),
                    "claims": json.dumps(claims), **{key: text for key, text in further.items() if text}}
        write_tensors(os.path.join(near, FILES[2]), taps, scratch, metadata)
        for name in FILES:
            os.replace(os.path.join(near, name), os.path.join(folder, name))


def hash_of(tally, case):
    done = run(tally, "hash", case)
    if not done.returncode and not done.stdout.strip():
        raise CaptureError(f"tally: found {tally}, which prints no hash of a case, expected the program tally; pass "
                           "tally= or set TALLY")
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise CaptureError(f"the recorded case: found {said}, expected a case that this tally reads; use a newer one, "
                           "or report this")
    return done.stdout.strip()


def check(folder, tally, options=(), before=()):
    """The exit code of `tally check`, and what it printed."""
    done = run(tally, "check", os.path.join(folder, FILES[1]), os.path.join(folder, FILES[2]), *options, before=before)
    return done.returncode, done.stdout + (done.stderr if done.returncode not in (0, 1, 4) else "")


def left_open(lines):
    """What these lines leave out of a verdict, in few words."""
    found = ["elements outside the sample"] if any(line.startswith("judged by samples") for line in lines) else []
    if any(line.startswith("not judged: the loss beside its factor") for line in lines):
        found.append("the loss beside its factor")
    elif any(line.startswith("not judged: the loss") for line in lines):
        found.append("the loss and its normalisation")
    if any(line.startswith("not judged: ") and not line.startswith(tuple(WORDS_OF_UNJUDGED)) for line in lines):
        found.append("some parameters")
    return found + [words for start, words in WORDS_OF_UNJUDGED.items() if words and any(line.startswith(start) for line in lines)]


def passed(last, lines):
    """The last line of a pass, with what it leaves open; below it the line that tells most, and what to do next."""
    looks, left_out = [line for line in lines if line.startswith(LOOK_AT)], left_open(lines)
    if (last == SOME_UNJUDGED or last.endswith(", some tensors")) and left_out:
        left_out.append("some tensors")
    if not looks and not left_out:
        return last
    parts = [", ".join(dict.fromkeys(line.partition(":")[0] for line in looks)).replace(f", {LOOK_AT}", ", ")] if looks else []
    parts += [f"not judged: {', '.join(left_out)}"] if left_out else []
    proposal = next((line for line in lines if line.startswith(PROPOSAL)), None)
    unjudged = [line for line in lines if line.startswith("not judged: ") and not line.startswith("not judged: forward")]
    unjudged.sort(key=lambda line: (line.startswith("not judged: the loss"), line.startswith(tuple(WORDS_OF_UNJUDGED))))  # parameters first
    told = [line for line in lines if line.startswith(ITEMS)] + [line.partition(": ")[2] for line in [*looks, *unjudged]]
    further = [f"next: {proposal}" if proposal else VARY_NEXT] if left_out else []
    return "\n  ".join([f"pass, but {'; '.join(parts)}", *told[:2], *further])


def worst(codes):
    """The exit code that says most: an error or a failure before what is not judged, and that before a pass."""
    return max(codes, key=lambda code: (code != 0, code != 4, code))


def cause_in(line):
    """The name that `tally explain` knows; a line without one as it is, which is no word."""
    return line.rpartition("looks like ")[2].replace(",", " ").split(" (")[0].split("  ")[0]


def failed(code, said, wrong):
    """One verdict: what the recorder itself found to be wrong stands first, as it was seen and is no guess."""
    spread = next((line for line in wrong if INTO_PARAMETERS in line), None)
    if spread:  # neither a figure nor a suspect says more of what is not finite
        return "\n".join([said.rpartition("\nfail: " if code == 1 else "\n")[0].partition("\nfailing, in stage order")[0], f"fail: {spread}"])
    head, mark, guessed = said.rpartition("\nfail: ") if code == 1 else (said.rpartition("\n")[0] if code == 0 else said, "", "")
    if mark and cause_in(wrong[0]) in guessed.replace(",", " ").split():  # with figures
        return "\n".join([said, *(f"  also: {line}" for line in wrong[1:])])
    if "no cause is known" in guessed or OFF_BY_A_FACTOR in guessed:
        figures = [line.partition(f"; {OFF_BY_A_FACTOR}")[0] for line in guessed.split("\n")[1:] if not line.startswith("  change: ")]
        return "\n".join([head, f"fail: {wrong[0]}", *(f"  also: {line}" for line in wrong[1:]), *figures])
    also = wrong[1:] + [guessed.replace("\n", "\n  ")] * bool(mark)
    return "\n".join([head, f"fail: {wrong[0]}", *(f"  also: {line}" for line in also)])


def concluded(code, said, lines, wrong, show):
    """Shows what `tally check` said, without what was shown before, and what else there is to say; the code of all."""
    known = {start + line for line in lines for start in ("", "assumed: ")}  # which the program repeats from the trace
    said = "\n".join(line for line in said.rstrip().split("\n") if line not in known)
    if wrong and code != 2:
        show(failed(code, said, wrong))
        return 1
    head, newline, last = said.rpartition("\n")
    show(head + newline + (passed(last, lines) if last.startswith("pass") else last))
    return code
