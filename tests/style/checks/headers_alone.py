"""Every header compiles alone. Those that a source of their name includes first, and what such a header itself includes
first, are compiled only with TALLY_EVERY_HEADER set, as the weekly job has it (ctest -C tidy -L tidy): a build proves them
only where it precompiles no headers and compiles each source by itself (TALLY_UNITS=OFF), as no job does. By clang where
it is found, which takes two thirds of GCC's time; headers that include the CUDA toolkit's own, where that is found."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import tempfile

from preludes import Preludes

COMPILER = shutil.which("clang++-16") or os.environ.get("CXX", "c++")
TEST_WORDS = ["-DTALLY_SOURCE_DIR=\"\""]  # what the build tells test programs
CUDA = re.compile(r"fatal error: '?(?:cuda|cublas|device_)\w*\.h(?:' file not found|: No such file)")


def cannot_run():
    return None if shutil.which(COMPILER) else f"no compiler {COMPILER} here"


def compiling(tree, *words):
    folders = [option for folder in [tree.root, *tree.include_folders] for option in ("-I", folder)]
    return [COMPILER, "-std=c++20", *TEST_WORDS, *folders, *words]


def compile_alone(tree, path, prelude):
    command = compiling(tree, "-fsyntax-only", *prelude, "-x", "c++", "-")
    result = subprocess.run(command, input=f'#include "{path}"\n', capture_output=True, text=True)
    if result.returncode == 0 or CUDA.search(result.stderr):
        return None
    errors = [line for line in result.stderr.splitlines() if re.search(r": (?:fatal )?error: ", line)]
    return path, (errors or result.stderr.splitlines() or ["failed without a message"])[0]


def precompiled(tree, names, folder):
    """The options that use it; none where it does not compile, as where it needs CUDA."""
    prelude = f"{folder}/prelude.hpp"
    with open(prelude, "w", encoding="utf-8") as file:
        quoted = (name if name.startswith("<") else f'"{name}"' for name in sorted(names))
        file.writelines(f"#include {name}\n" for name in quoted)
    command = compiling(tree, "-x", "c++-header", prelude, "-o", f"{prelude}.gch")
    made = names and subprocess.run(command, capture_output=True).returncode == 0
    return ["-include", prelude] if made else []


def compile_each(tree, names, paths):
    with tempfile.TemporaryDirectory() as folder:
        prelude = precompiled(tree, names, folder)
        return [problem for path in paths if (problem := compile_alone(tree, path, prelude))]


def first_in_sources(tree, preludes):
    """What comes first in a source of its name, and what comes first in these."""
    for path in preludes.own:
        source = re.sub(r"\.h(pp)?$", ".cpp", path)
        if os.path.isfile(f"{tree.root}/{source}") and next(preludes.leading(source), "") == path:
            while path in preludes.own:
                yield path
                path = next(preludes.leading(path), "")


def problems(tree):
    preludes = Preludes(tree)
    later = set() if os.environ.get("TALLY_EVERY_HEADER") else set(first_in_sources(tree, preludes))
    planned = preludes.planned(sorted(preludes.own - later))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda plan: compile_each(tree, *plan), planned):
            yield from found
