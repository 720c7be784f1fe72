"""python -m tally_recorder operations train.py …: records the operations of a script that knows nothing of it, and has them judged."""
import argparse
import os
import runpy
import sys
import traceback

from .. import verdict
from ..user_code import CaptureError, Enough
from .places import Paths
from .recording import Operations, rank


def parsed(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m tally_recorder operations", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Records every operation that a script runs, forward, backward and optimizer, and has `tally check-operations`\n"
        "judge each by itself. Exits with its code.",
        epilog="example:\n  python -m tally_recorder operations --stop-after 2 train.py --lr 0.1\n"
        "other uses: python -m tally_recorder --help, python -m tally_recorder vary --help")
    parser.add_argument("--share", type=float, default=1.0, metavar="S", help="record this share of all operations, and the first of "
                        "every name in each step (1)")
    parser.add_argument("--seed", type=int, default=0, help="which of them are drawn (0)")
    parser.add_argument("--stop-after", type=int, metavar="N", help="end the script behind N steps of its optimizers")
    parser.add_argument("--out", default="tally-out/operations", help="the folder of the recording (tally-out/operations)")
    parser.add_argument("--no-check", dest="check", action="store_false", help="record, and judge nothing")
    parser.add_argument("--tally", help="the program (the variable TALLY, the wheel's, or the PATH's)")
    parser.add_argument("-m", dest="module", action="store_true", help="the script is a module")
    parser.add_argument("script", help="the script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="and its arguments")
    return parser.parse_args(arguments)


def run(script, arguments, module):
    """Runs the script to its end. Returns what ended it before: an exception, its exit status, or None."""
    sys.argv = [script, *arguments]
    try:
        if module:
            sys.path.insert(0, os.getcwd())
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
            runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        return end.code
    except Enough:
        pass
    except BaseException as problem:  # the script's own, or the user's interrupt
        traceback.print_exc()
        return problem
    return None


def judged(program, folder):
    """The exit code of `tally check-operations`, whose output is shown."""
    done = verdict.run(program, "check-operations", folder)
    print(done.stdout, end="", flush=True)
    print(done.stderr, end="", file=sys.stderr)
    return done.returncode


def operations(arguments):
    options = parsed(arguments)
    folder = options.out
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        folder = os.path.join(folder, f"rank-{rank()}")
    try:
        program = verdict.command(options.tally) if options.check else None
        if not options.module and not os.path.isfile(options.script):
            raise CaptureError(f"{options.script}: found no such file, expected a script; name one, or a module after -m")
        recording = Operations(folder, share=options.share, seed=options.seed, steps=options.stop_after)
        recording.places.paths = Paths(search=True)
        with recording:
            ended = run(options.script, options.arguments, options.module)
        code = judged(program, folder) if options.check else 0
    except CaptureError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    if isinstance(ended, BaseException) and not isinstance(ended, KeyboardInterrupt):
        print(f"error: {options.script}: it raised {type(ended).__name__}; what ran before was recorded, and judged alone", file=sys.stderr)
    if ended and not isinstance(ended, BaseException):
        print(f"error: {options.script}: found the exit status {ended}, expected 0; run it without the recorder first", file=sys.stderr)
    return 130 if isinstance(ended, KeyboardInterrupt) else 2 if ended else code
