"""Which ways every branch was taken, summed over the units and instances of a template that hold it."""
import collections
import dataclasses
import json
import os
import subprocess

from measured import COVERAGE


@dataclasses.dataclass(frozen=True, order=True)
class Place:
    """Where a condition stands, in the source as it is; `text` is the condition in one line."""
    file: str
    line: int
    column: int
    text: str


def exported(objects, out):
    """What llvm-cov knows of these objects after a run; branches that a constant decides are left out by it."""
    command = [COVERAGE, "export", objects[0], *(word for name in objects[1:] for word in ("-object", name)),
               f"-instr-profile={out}/profile", "-skip-expansions"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["data"][0]


def taken(data, sources, out):
    """Place -> [how often true, how often false], of all conditions in `sources` (path -> Counted)."""
    counts = collections.defaultdict(lambda: [0, 0])
    overlay = f"{os.path.realpath(out)}/overlay/"
    for function in data["functions"]:
        for line, column, last_line, last_column, on_true, on_false, file, *_ in function["branches"]:
            path = os.path.realpath(os.path.join(out, function["filenames"][file])).removeprefix(overlay)
            place = path in sources and _place(sources[path], path, (line - 1, column), (last_line - 1, last_column))
            if place:
                counts[place][0] += on_true
                counts[place][1] += on_false
    return counts


def _place(counted, path, first, last):
    """The condition between two places of the counted text; None where this tool set it. A line more stands before it."""
    begin, end = counted.original(*first), counted.original(*last)
    if begin is None:
        return None
    start, stop = counted.offset(first[0], begin), counted.offset(last[0], end)
    words = " ".join(counted.source.text[start:stop].split())
    return Place(path, first[0], begin, words) if words != ":" else None  # of `for (… : …)`, whose turns are counted
