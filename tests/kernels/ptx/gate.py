"""Reads the PTX inside objects that nvcc compiled, and lists what would make a device's bits differ from the host's.

usage: gate.py SOURCE_ROOT UNITS OBJECT...

SOURCE_ROOT is the repository, UNITS the folder of the files that include sources which are compiled together.

Refused: approximations (`approx`, `div.full`), flushed subnormals (`ftz`), arithmetic without a rounding mode (the
assembler may fuse it), and additions to memory in floating point, but in sources that declare them
(`.global_float_atomics = true`). Every object must hold PTX for every architecture that any holds, three at least.
"""
import pathlib
import re
import sys

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
ROUNDED = re.compile(r"\.r[nzmp](\.|$)")
FLOAT = re.compile(r"\.(f16|f16x2|bf16|bf16x2|f32|f64)$")


def modules(binary):
    """PTX texts, uncompressed in a fat binary, each ended by a zero byte."""
    for found in re.finditer(rb"\.version \d+\.\d+\s+\.target ", binary):
        yield binary[found.start():binary.index(b"\0", found.start())].decode()


def complaint(instruction, declares_atomics):
    """What is wrong with an instruction like `add.rn.f32`, or None."""
    if ".approx" in instruction or instruction.startswith("div.full"):
        return "an approximation"
    if ".ftz" in instruction:
        return "flushes subnormals"
    operation = instruction.split(".")[0]
    if not FLOAT.search(instruction):
        return None
    if operation in ("add", "sub", "mul", "mad", "fma", "div", "sqrt", "rcp") and not ROUNDED.search(instruction):
        return "no rounding mode"
    if operation in ("atom", "red") and not declares_atomics:
        return "an undeclared atomic in floating point"
    return None


def findings(ptx, declares_atomics=lambda kernel: False):
    """(kernel, instruction, complaint) in the order of the text."""
    kernel = "?"
    for line in ptx.splitlines():
        entry = re.search(r"\.(?:entry|func)\b.*?([A-Za-z_$][\w$]*)\s*\($|\.entry\s+([\w$]+)", line.rstrip())
        if entry:
            kernel = entry.group(2) or entry.group(1)
        words = line.split("//")[0].split()
        if words and words[0].startswith("@"):
            words = words[1:]
        if not words or "." not in words[0]:
            continue
        what = complaint(words[0].rstrip(";"), declares_atomics(kernel))
        if what:
            yield kernel, words[0], what


def sources_of(root, units, object_file):
    """The .cu files that the object is made of: those that the unit of its name includes."""
    parts = pathlib.Path(object_file).parts
    unit = pathlib.Path(units, *parts[len(parts) - parts[::-1].index("units"):]) if "units" in parts else None
    unit = unit and unit.with_suffix("")  # .o
    if not unit or not unit.is_file():
        raise SystemExit(f"{object_file}: found no unit of its name below {units}, expected what it is made of")
    return [root / name for name in re.findall(r'#include "([^"]+)"', unit.read_text())]


def declaring(sources):
    """Whether the source of a kernel declares that it adds to memory; it is the one whose namespace is in the name."""
    declared = {source: ".global_float_atomics = true" in source.read_text() for source in sources}

    def of(kernel):
        spaces = {source: source.stem.removesuffix("_kernel") + "_kernel" for source in sources}
        named = [source for source, space in spaces.items() if f"{len(space)}{space}" in kernel]
        return any(declared[source] for source in named or sources)
    return of


def main(root, units, objects):
    root = pathlib.Path(root)
    bad = instructions = 0
    for object_file in objects:
        sources = sources_of(root, units, object_file)
        declares = declaring(sources)
        place = sources[0].parent.relative_to(root)
        seen = set()
        for ptx in modules(pathlib.Path(object_file).read_bytes()):
            architecture = re.search(r"\.target (sm_\d+)", ptx).group(1)
            seen.add(architecture)
            instructions += ptx.count(";")
            for kernel, instruction, what in findings(ptx, declares):
                bad += 1
                print(f"{place}: {architecture}, {kernel}: {instruction}: {what}")
        for missing in set(ARCHITECTURES) - seen:
            bad += 1
            print(f"{place}: no PTX for {missing}")
    print(f"{len(objects)} kernels' objects, {instructions} statements of PTX, {bad} findings")
    return 1 if bad or not objects or not instructions else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
