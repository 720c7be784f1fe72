"""python -m tally_recorder --micro-batches K [options] train.py …: records a training script as it is.
python -m tally_recorder vary …: runs one on the same rows in other micro-batches."""
import argparse
import json
import sys

from . import folders, verdict
from .errors import CaptureError
from .meaning import LEVELS, NORMALISATIONS
from .varied.script import command
from .watch import Watch


def section(text):
    """The value of --ranks."""
    try:
        return json.loads(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text}, expected JSON") from None


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="python -m tally_recorder", description="Records the training loop of a "
                                     "script, and has `tally check` judge it. Exits with its code.",
                                     epilog="`python -m tally_recorder vary --help`: the other use, which runs a script once for each "
                                     "way of writing the same rows as micro-batches.")
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
        return command.main(sys.argv[2:])
    parser, options = options_of(sys.argv[1:])
    try:
        counts = [int(count) for count in options.micro_batches.split(",")]
    except ValueError:
        parser.error(f"--micro-batches: found {options.micro_batches!r}, expected a count, or several with commas")
    try:
        verdict.command(options.tally)
        folders.can_be_written(options.out)
        if options.every is None and options.watch is None:
            folders.is_free(options.out)
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


if __name__ == "__main__":
    sys.exit(main())
