"""Writes the three files of a capture and asks `tally check` about them."""
import json
import os
import shutil
import subprocess
import tempfile

import tally_program

from . import safetensors_file
from .errors import CaptureError
from .folders import FILES


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
        safetensors_file.write(os.path.join(near, FILES[0]), tensors, scratch, {})
        with open(os.path.join(near, FILES[1]), "w", encoding="utf-8") as file:
            json.dump(case, file, indent=1)
        metadata = {"tally_trace": "1", "case": hash_of(tally, os.path.join(near, FILES[1])),
                    "claims": json.dumps(claims), **{key: text for key, text in further.items() if text}}
        safetensors_file.write(os.path.join(near, FILES[2]), taps, scratch, metadata)
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
