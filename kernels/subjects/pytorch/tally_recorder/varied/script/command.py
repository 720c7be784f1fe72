"""python -m tally_recorder vary [options] train.py …: runs a script on the same rows in other micro-batches."""
import argparse
import importlib.util
import os
import shlex
import signal
import sys

from ... import verdict
from ...errors import CaptureError
from ..verdict import PAGE, judged, made
from .presets import PRESETS, detected
from .runs import Script


def options_of(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m tally_recorder vary", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Runs a training script once for each way of writing the same rows as micro-batches, and has `tally\nvary` "
        "judge whether all come to the parameters of the whole batch. Exits with its code.",
        epilog="example:\n  python -m tally_recorder vary --rows 8 --set '--batch-size {rows} --accum {k}' train.py --lr 0.1")
    parser.add_argument("--rows", type=int, default=8, help="rows of a window, which is one optimizer step (8)")
    parser.add_argument("--windows", type=int, default=2, help="windows that a run trains (2)")
    parser.add_argument("--set", action="append", default=[], metavar="WORDS", dest="words",
                        help="the script's words for it: {rows} of a micro-batch, {k} of them; {sizes}: the rows of each with "
                        "commas, where the script can deal unequal ones; {out}: a scratch folder for what a run writes")
    parser.add_argument("--preset", choices=sorted(PRESETS), help="a framework whose words are known (found by what the script "
                        "imports, where there is no --set)")
    parser.add_argument("--nproc", default="", metavar="RANKS", help="numbers of ranks, as 2,4, that the same rows are dealt to as well: "
                        "processes with torchrun's environment variables, joined by gloo. {rows} and {k} are one rank's then, "
                        "{ranks} how many there are")
    parser.add_argument("--seed", type=int, default=0, help="of the generators, and of the partitions that are drawn (0)")
    parser.add_argument("--out", default="tally-out/vary", help="the folder for vary.json, vary.html and what the runs said "
                        "(tally-out/vary)")
    parser.add_argument("-m", dest="module", action="store_true", help="the script is a module")
    parser.add_argument("script", help="the script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="and its arguments")
    return parser.parse_args(arguments)


def text_of(options):
    """The script, to be looked at."""
    path = options.script
    if options.module:
        try:
            found = importlib.util.find_spec(path)
        except ImportError:
            found = None
        path = found.origin if found else None
    if not path or not os.path.isfile(path):
        raise CaptureError(f"{options.script}: found no such {'module' if options.module else 'file'}, expected a script; name one, or a "
                           "module after -m")
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def ranks_of(options):
    """The numbers of --nproc."""
    words = [word for word in options.nproc.split(",") if word]
    if not all(word.isdigit() and int(word) >= 1 for word in words):
        raise CaptureError(f"--nproc: found {options.nproc}, expected numbers of ranks with commas; write 2,4")
    for ranks in map(int, words):
        if options.rows % ranks:
            raise CaptureError(f"--nproc: found {ranks} ranks for --rows {options.rows}, expected a number that divides the rows of a window; "
                               "write another for one of them")
    return list(map(int, words))


def words_of(options):
    """(preset, words): what is put behind the script's arguments."""
    text, preset = text_of(options), options.preset
    words = [word for given in options.words for word in shlex.split(given)]
    if options.rows < 2 or options.windows < 1:
        raise CaptureError(f"vary: found --rows {options.rows} and --windows {options.windows}, expected at least 2 rows, which can be "
                           "dealt in more than one way, and 1 window")
    if words and not any(key in word for word in words for key in ("{rows}", "{sizes}")):
        raise CaptureError(f"--set: found {' '.join(words)}, expected {{rows}} in it (or {{sizes}}), the rows of a micro-batch; write "
                           "'--batch-size {rows} --accum {k}' in the script's own words")
    if not words and preset is None:
        preset = detected(text)
        if preset is None:
            raise CaptureError(f"{options.script}: found no framework whose words for rows and micro-batches are known, expected them "
                               "in --set; write '--batch-size {rows} --accum {k}' in the script's own words, or name a --preset")
        print(f"{options.script}: preset {preset}: {PRESETS[preset].said} say what a micro-batch is (else --preset, --set)", flush=True)
    return preset, words + shlex.split(PRESETS[preset].flags if preset else "")


def terminated(*_):
    raise KeyboardInterrupt


def main(arguments):
    options = options_of(arguments)
    signal.signal(signal.SIGTERM, terminated)
    try:
        program = verdict.command(None)
        preset, words = words_of(options)
        made(options.out, "--out")
        with Script(options.script, options.arguments, words, preset, options.module, options.rows, options.windows, options.seed,
                    options.out, ranks_of(options)) as script:
            script.prepare()
            answer, document = judged(script, options.out)
            script.say_done()
        if max(script.nproc, default=1) > 1 and answer["verdict"] == "pass" and all(run["ranks"] == 1 for run in document["runs"]):
            raise CaptureError(f"tally: found {program}, which asks for no ranks, expected the program of this recorder; build it anew, or "
                               "set TALLY")
        if script.drawn and answer["verdict"] != "pass":
            raise CaptureError(f"{options.script}: found numbers that are drawn for each micro-batch ({script.drawn}), others with other "
                               "micro-batches, expected none; draw them with the rows, in the data set, or vary the step as a function, "
                               "where they are dealt by rows (tally_recorder.vary)")
    except CaptureError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    done = verdict.run(program, "vary", options.out)
    print(done.stdout, end="")
    notes = [f"note: {note}\n" for note in script.notes] if done.returncode == 2 else []  # else they stand with the verdict
    print(done.stderr, *notes, sep="", end="", file=sys.stderr)
    if done.returncode in (0, 1):
        print(f"page: {os.path.join(options.out, PAGE)}")
    return done.returncode
