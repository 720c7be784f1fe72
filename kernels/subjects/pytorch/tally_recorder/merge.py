"""python -m tally_recorder.merge FOLDER: makes one capture of the parts that ranks left in FOLDER, and has it judged."""
import argparse
import sys

from .merging import merged


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
