"""python -m tally_recorder --micro-batches K [options] train.py …: records a training script as it is.
python -m tally_recorder vary [options] train.py …: runs one on the same rows in other micro-batches.
python -m tally_recorder operations [options] train.py …: records each of its operations.
python -m tally_recorder probe: finds what this machine's kernels claim."""
import argparse
import importlib.util
import json
import os
import shlex
import signal
import sys

from . import verdict
from .operations.probe import probe
from .operations.script import operations
from .recipe import LEVELS, NORMALISATIONS
from .script import Watch
from .user_code import CaptureError
from .varied.executor import PAGE, judged, make_folder
from .varied.presets import PRESETS, detected
from .varied.script import Script


def section(text):
    """The value of --ranks."""
    try:
        return json.loads(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text}, expected JSON") from None


def record_options(arguments):
    parser = argparse.ArgumentParser(prog="python -m tally_recorder", description="Records the training loop of a "
                                     "script, and has `tally check` judge it. Exits with its code.",
                                     epilog="The other uses: `python -m tally_recorder vary --help` runs a script once for each way of "
                                     "writing the same rows as micro-batches, `python -m tally_recorder operations --help` records and "
                                     "judges every operation by itself.")
    parser.add_argument("--micro-batches", required=True, metavar="K[,K…]",
                        help="micro-batches of a window as they are meant; several repeat one after another")
    parser.add_argument("--windows", type=int, help="how many windows to record (all)")
    parser.add_argument("--start", type=int, default=0, help="the first of them (0)")
    parser.add_argument("--every", type=int, help="record as many again every so many windows")
    parser.add_argument("--watch", type=int, metavar="N", help="judge --windows (1) in N while the script goes on, each in a "
                        "folder of --out")
    parser.add_argument("--stop", action="store_true", help="end the script when --windows are recorded")
    parser.add_argument("--level", choices=LEVELS, default="state")
    parser.add_argument("--normalisation", choices=NORMALISATIONS, help="as it is meant (window_items)")
    parser.add_argument("--divide", choices=("micro_batch", "window"), default="micro_batch",
                        help="each loss is divided (the default), or the gradients once a window")
    parser.add_argument("--clip", type=float, metavar="MAX_NORM", help="the clip by norm as it is meant")
    parser.add_argument("--layers", choices=("opaque", "known"), default="opaque",
                        help="state the layers of a network, all of them known, in place of an opaque model")
    parser.add_argument("--samples", type=int, metavar="N", help="record N elements of each larger tensor (all)")
    parser.add_argument("--no-loss", dest="loss", action="store_false", help="record no logits and no losses")
    parser.add_argument("--ranks", type=section, metavar="JSON", help="how several ranks add up, in the words of "
                        "execution.ranks: '{\"reduce\": {\"divide\": \"after\"}}', or false")
    parser.add_argument("--out", default="tally-out/recorded", help="the folder of the capture (tally-out/recorded)")
    parser.add_argument("--tally", help="the program (the variable TALLY, the wheel's, or the PATH's)")
    parser.add_argument("-m", dest="module", action="store_true", help="the script is a module")
    parser.add_argument("script", help="the script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="and its arguments")
    options = parser.parse_args(arguments)
    if options.watch is not None and (options.stop or options.every is not None):
        parser.error("--watch: found --stop or --every beside it, expected neither, as each stretch is judged as it ends; leave "
                     "one of them out")
    return parser, options


def main():
    if sys.argv[1:2] == ["vary"]:
        return vary(sys.argv[2:])
    if sys.argv[1:2] == ["operations"]:
        return operations(sys.argv[2:])
    if sys.argv[1:2] == ["probe"]:
        return probe(sys.argv[2:])
    parser, options = record_options(sys.argv[1:])
    try:
        counts = [int(count) for count in options.micro_batches.split(",")]
    except ValueError:
        parser.error(f"--micro-batches: found {options.micro_batches!r}, expected a count, or several with commas")
    try:
        verdict.command(options.tally)
        verdict.can_be_written(options.out)
        if options.every is None and options.watch is None:
            verdict.is_free(options.out)
        watched = {} if options.watch is None else {"watch": options.watch, "out": options.out, "tally": options.tally}
        watch = Watch(options.stop, micro_batches=counts, windows=options.windows, start=options.start,
                      every=options.every, level=options.level, normalisation=options.normalisation, clip=options.clip,
                      loss=options.loss, divide=options.divide, layers=options.layers,
                      samples=options.samples, ranks=options.ranks, name=options.script, **watched)
        watch.run([options.script, *options.arguments], options.module)
    except CaptureError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    if watch.recorder is None:
        return 2
    code = watch.recorder.check() if watched else watch.recorder.check(options.out, options.tally)
    return 130 if watch.failed is KeyboardInterrupt else 2 if watch.failed else code


def vary_options(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m tally_recorder vary", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Runs a training script once for each way of writing the same rows as micro-batches, and has `tally\nvary` "
        "judge whether all come to the parameters of the whole batch. Exits with its code.",
        epilog="example:\n  python -m tally_recorder vary --rows 8 --set '--batch-size {rows} --accum {k}' train.py --lr 0.1\n"
        "other uses: python -m tally_recorder --help, python -m tally_recorder operations --help")
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
    parser.add_argument("--seed", type=int, default=0, help="seed of the generators, and of the partitions that are drawn (0)")
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


def vary(arguments):
    options = vary_options(arguments)
    signal.signal(signal.SIGTERM, terminated)
    try:
        program = verdict.command(None)
        preset, words = words_of(options)
        make_folder(options.out, "--out")
        with Script(options.script, options.arguments, words, preset, options.module, options.rows, options.windows, options.seed,
                    options.out, ranks_of(options)) as script:
            script.prepare()
            answer, document = judged(script, options.out)
            script.say_done()
        if max(script.nproc, default=1) > 1 and answer["verdict"] == "pass" and all(run["ranks"] == 1 for run in document["runs"]):
            raise CaptureError(f"tally: found {program}, which does not ask for ranks, expected the program of this recorder; build it "
                               "again, or set TALLY")
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


if __name__ == "__main__":
    sys.exit(main())
