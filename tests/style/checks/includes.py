"""The arrows between the folders, and between the parts of the program: who may include whom. Includes are written from
the repository's root."""
import os
import re

from tree import SOURCES

FOLDERS = ("oracle", "kernels", "properties", "reports", "tests")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
ARITHMETIC = ("Eigen/", "eigen3/", "unsupported/Eigen/", "boost/")


# The parts are built one without the next (reports/CMakeLists.txt): what judges recordings, what draws cases and trains
# them, the lab. The first pattern that matches a path says its part. A type alone may be named from a later part.
PARTS = [(re.compile(pattern), part) for pattern, part in (
    (r"oracle/|kernels/trace/|properties/(judge|lenses|diagnosis|operations)/|reports/(capture|html|operations|record|text|vary)/", 0),
    (r"reports/census/census\.", 0),
    (r"reports/command_line/(check/|[^/]+$)", 0),
    (r"properties/faults/fault_names\.", 0),
    (r"properties/faults/fault\.", 1),
    (r"properties/(faults|lab)/|reports/command_line/lab/", 2),
    (r"kernels/|properties/|reports/", 1))]
TYPES = {"kernels/device/device.hpp", "kernels/subjects/process/step_limits.hpp", "kernels/training_step/run/run.hpp"}


def part_of(path):
    return next((part for pattern, part in PARTS if pattern.match(path)), 2)


def allowed(includer, included):
    """Whether a file of the repository may name this header of the repository."""
    source, target = includer.split("/")[0], included.split("/")[0]
    if source in ("tests", target):
        return True
    if source == "kernels":
        return included.startswith(("oracle/case/", "oracle/graph/", "oracle/layers/", "oracle/registered_"))
    if source == "properties":
        return target in ("oracle", "kernels") or included.startswith("reports/record/")
    return includer.startswith("reports/command_line/") and target != "tests"


def includes(tree, path):
    for number, line in enumerate(tree.lines(path), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1] == '"', match[2]


def arithmetic_behind(tree, known, header, seen):
    """The chain of headers from `header` to Eigen or Boost; empty when there is none."""
    if header.startswith(ARITHMETIC):
        return [header]
    if header in seen or header not in known:
        return []
    seen.add(header)
    for _, _, further in includes(tree, header):
        chain = arithmetic_behind(tree, known, further, seen)
        if chain:
            return [header, *chain]
    return []


def problems(tree):
    known = set(tree.files)
    for path in tree.having(*SOURCES):
        if path.split("/")[0] not in FOLDERS:
            continue
        for number, quoted, header in includes(tree, path):
            place = f"{path}:{number}"
            if quoted and header not in known:
                if not os.path.splitext(path)[0].startswith("tests/"):
                    yield place, f'"{header}" is no file of the repository; quoted includes start at its root'
            elif quoted and not allowed(path, header):
                yield place, f'{path.split("/")[0]}/ may not include "{header}"'
            elif quoted and part_of(header) > part_of(path) and header not in TYPES:
                yield place, f'"{header}" is of a later part of the program'
            elif path.startswith("kernels/"):
                chain = arithmetic_behind(tree, known, header, set())
                if chain:
                    yield place, f'kernels/ may not see Eigen or Boost: {" -> ".join(chain)}'
