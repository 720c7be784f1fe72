"""Gaps: a way that a branch never went, a number of turns that a loop never took."""
import dataclasses
import pathlib
import struct
import sys

import loops

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "mutation"))

from mutant import function_at  # noqa: E402


@dataclasses.dataclass(frozen=True, order=True)
class Gap:
    """`what` is `never true`, `never false`, `never asked`, `never 2 turns`, `never 5 turns or more`, or `never run`."""
    file: str
    line: int
    column: int
    function: str
    text: str
    what: str
    kind: str  # branch or loop
    seen: str = dataclasses.field(default="", compare=False)


def of_branches(taken, sources):
    """All gaps of the branches `taken`, place -> [true, false]."""
    for place, (on_true, on_false) in taken.items():
        if not on_true or not on_false:
            what = "never true" if on_false else "never false" if on_true else "never asked"
            function = _function(sources[place.file], place.line)
            yield Gap(place.file, place.line, place.column, function, place.text, what, "branch")


def _function(counted, line):
    return function_at(counted.source.text, counted.lines[min(line, len(counted.lines) - 1)])


def of_loops(path, sources, constants):
    """All gaps of the loops of `sources`, from the counts in the file `path`; constants: source's path -> its constants."""
    counts = path.read_bytes()
    for file, counted in sources.items():
        for loop in counted.loops:
            none, one, two, most = struct.unpack_from("4I", counts, 16 * loop.number)
            must, least = loops.demands(counted, loop, constants(file))
            seen = {turns for turns, times in enumerate((none, one, two)) if times}
            missing = [f"never {turns} turn{'s' * (turns != 1)}" for turns in sorted(must - seen)]
            if most < least and least > 2:
                missing.append(f"never {least} turns or more")
            missing = missing if seen or most else ["never run"]
            function, told = _function(counted, loop.line), f"{sorted(seen)}, at most {most}"
            yield from (Gap(file, loop.line, 0, function, loop.head, what, "loop", told) for what in missing)
