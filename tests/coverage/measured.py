"""Builds the program with the plain kernels counted, and runs a campaign with it."""
import concurrent.futures
import os
import pathlib
import platform
import posixpath
import re
import shutil
import subprocess
import sys

from counted import MOST, Counted

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "mutation"))

import program  # noqa: E402

CLANG, COVERAGE, PROFILE = "clang++-16", "llvm-cov-16", "llvm-profdata-16"
SOURCES = (".cpp", ".hpp", ".cu", ".h")
COUNTING = ["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-compilation-dir=.", "-w", "-g0",
            "-O1"]  # half the time to compile, and no longer to run
HOST_BUILD_SECONDS = 2400
GCC_ONLY = {"-Winvalid-pch", "-fpch-preprocess"}


def missing():
    """The tools that are not here, and clang's library that writes the counts."""
    absent = [tool for tool in (CLANG, COVERAGE, PROFILE) if shutil.which(tool) is None]
    if CLANG in absent:
        return absent
    library = f"libclang_rt.profile-{platform.machine()}.a"
    found = subprocess.run([CLANG, f"-print-file-name={library}"], check=True, capture_output=True, text=True).stdout.strip()
    return absent if os.path.isfile(found) else [*absent, library]


def host_build(build, out, jobs):
    """A build of the program for the host alone, below `out`, through the compiler cache of `build`; its folder."""
    with open(f"{build}/CMakeCache.txt", encoding="utf-8") as file:
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", file.read(), re.MULTILINE))
    root, made = cache["CMAKE_HOME_DIRECTORY"], f"{out}/host"
    launcher = cache.get("CMAKE_CXX_COMPILER_LAUNCHER", "")
    for command in (["cmake", "-S", root, "--preset", "no-cuda", "-B", made, f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"],
                    ["ninja", "-C", made, "-j", str(jobs), "reports/tally"]):
        code, said = program.run_limited(command, root, HOST_BUILD_SECONDS)
        if code != 0:
            raise RuntimeError(f"{command[0]} makes no build for the host alone: {said[-2000:]}")
    return made


def counted_sources(root, folder):
    """Path -> Counted, for all sources below `folder` of the tree `root`."""
    paths = sorted(str(path.relative_to(root)) for path in pathlib.Path(root, folder).rglob("*")
                   if path.suffix in SOURCES)
    return {path: Counted(path, pathlib.Path(root, path).read_text(encoding="utf-8"), MOST * i)
            for i, path in enumerate(paths)}


def laid_out(sources, root, out):
    """(place below out/overlay, text) of every counted source that is not there as it is now, names and lines the tree's."""
    for path, source in sources.items():
        place = pathlib.Path(out, "overlay", path)
        text = f'#line 1 "{root}/{path}"\n{source.text}'
        if not place.is_file() or place.read_text(encoding="utf-8") != text:
            yield place, text


def by_clang(command):
    """The command of an object, through the same compiler cache, by clang and without a precompiled header."""
    compiler = next(word for word in command if posixpath.basename(word) in ("c++", "g++", "clang++", CLANG))
    words = iter(command)
    for word in words:
        if word in ("-include", "-x"):
            kind = next(words)
            yield from () if word == "-include" else (word, kind)
        elif word not in GCC_ONLY:
            yield CLANG if word == compiler else word


def compile_object(built, name, out, overlay):
    """One object of the build, counted; its path."""
    command = list(by_clang(built.commands[name]))
    source = command[command.index("-c") + 1]
    place = f"objects/{name}"
    os.makedirs(f"{out}/{posixpath.dirname(place)}", exist_ok=True)
    inside = os.path.relpath(source, built.root)
    if inside in overlay:
        command[command.index("-c") + 1] = f"overlay/{inside}"
    command[command.index("-o") + 1] = place
    compiler = command.index(CLANG)
    command[compiler + 1:compiler + 1] = ["-Ioverlay", "-include", f"{HERE}/turns.hpp"]
    code, said = program.run_limited([*command, *COUNTING], out, program.COMPILE_SECONDS)
    if code != 0:
        raise RuntimeError(f"{source} does not compile by {CLANG} with counters: {said[:2000]}")
    return f"{out}/{place}"


def plain(built):
    """The objects of the kernels as they ship; those of the race checker are the same sources once more."""
    return [name for name in built.commands if name.startswith("kernels/") and "_checked.dir/" not in name]


def build(built, sources, out, jobs):
    """The program with counted kernels; its path, and those of the counted objects."""
    for place, text in laid_out(sources, built.root, out):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    names = plain(built)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        made = list(pool.map(lambda name: compile_object(built, name, out, sources), names))
    turns = f"{out}/objects/turns.o"
    subprocess.run([CLANG, "-std=c++20", f"-I{HERE.parent.parent}", "-c", f"{HERE}/turns.cpp", "-o", turns], check=True)
    # Counted ones first: of an inline function that many objects hold the linker takes the first.
    others = [word for word in built.link_line[1:] if word not in set(names)]
    path = f"{out}/tally"
    others[others.index("-o") + 1] = path
    linker = ["-fuse-ld=lld"] if shutil.which("ld.lld") else []
    code, said = program.run_limited([CLANG, "-fprofile-instr-generate", "-Wl,--wrap=_exit", *linker, turns, *made, *others],
                                     built.build, program.COMPILE_SECONDS)
    if code != 0:
        raise RuntimeError(f"the counted program does not link: {said[:2000]}")
    return path, made


def run(path, words, out, seconds):
    """Runs `tally verify` with those words; its exit status. Leaves out/profile and out/turns."""
    shutil.rmtree(f"{out}/raw", ignore_errors=True)
    pathlib.Path(out, "turns").unlink(missing_ok=True)
    os.environ.update(LLVM_PROFILE_FILE=f"{out}/raw/%m.profraw", TALLY_TURNS=f"{out}/turns")
    code, said = program.run_limited([path, "verify", *words, "--out", f"{out}/campaign"], out, seconds)
    if code not in (0, 1):
        raise RuntimeError(f"the campaign ended with {code}; expected 0: nothing can be said of what it reached: {said[-2000:]}")
    raw = sorted(str(path) for path in pathlib.Path(out, "raw").iterdir())
    subprocess.run([PROFILE, "merge", *raw, "-o", f"{out}/profile"], check=True)
    return code
