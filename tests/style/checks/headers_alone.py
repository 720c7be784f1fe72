"""Every header compiles alone. Headers that include the CUDA toolkit's own are compiled where it is found, and those
that a source of their name includes first with that source, in every build that precompiles no headers."""
import concurrent.futures
import os
import re
import shutil
import subprocess

COMPILER = os.environ.get("CXX", "c++")
TEST_WORDS = ["-DTALLY_SOURCE_DIR=\"\""]  # what the build tells test programs
CUDA = re.compile(r"fatal error: (?:cuda|cublas|device_)\w*\.h: No such file")


def cannot_run():
    return None if shutil.which(COMPILER) else f"no compiler {COMPILER} here"


def compile_alone(tree, path):
    folders = [option for folder in [tree.root, *tree.include_folders] for option in ("-I", folder)]
    command = [COMPILER, "-std=c++20", "-fsyntax-only", *TEST_WORDS, *folders, "-x", "c++", "-"]
    result = subprocess.run(command, input=f'#include "{path}"\n', capture_output=True, text=True)
    if result.returncode == 0 or CUDA.search(result.stderr):
        return None
    errors = [line for line in result.stderr.splitlines() if re.search(r": (?:fatal )?error: ", line)]
    return path, (errors or result.stderr.splitlines() or ["failed without a message"])[0]


def comes_first(tree, path):
    source = re.sub(r"\.h(pp)?$", ".cpp", path)
    if not os.path.isfile(f"{tree.root}/{source}"):
        return False
    return next((line for line in tree.lines(source) if line.startswith("#include")), "") == f'#include "{path}"'


def problems(tree):
    alone = [path for path in tree.having(".hpp", ".h") if not comes_first(tree, path)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for problem in pool.map(lambda path: compile_alone(tree, path), alone):
            if problem:
                yield problem
