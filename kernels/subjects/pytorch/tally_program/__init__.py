"""The program `tally` of a wheel, which stands beside this file. No import here waits for PyTorch."""
import os
import sys


def path():
    """The program's path; None where this is a checkout, or a wheel of the recorder alone."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tally-check")
    return program if os.access(program, os.X_OK) else None


def main():
    """The command `tally`: becomes the program."""
    program = path()
    if program is None:
        sys.exit("error: tally_program holds no program; expected one from the wheel: install tally_recorder again")
    os.execv(program, ["tally", *sys.argv[1:]])
