"""A virtual environment with the frameworks at the versions of requirements.txt, made once and kept."""
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LISTS = [os.path.join(HERE, name) for name in ("requirements.txt", "requirements-cuda.txt")]
STAMP = "made-from"
TOOLKIT = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "lib64")
IMPORTS = "import accelerate, datasets, lightning, peft, pytest, torch, transformers, trl"


class NotToBeHad(Exception):
    """Why there is no such environment here."""


def stamp():
    """What an environment of these lists is known by."""
    text = b"".join(pathlib.Path(name).read_bytes() for name in LISTS)
    return hashlib.sha256(text + sys.version.encode()).hexdigest()


def python_of(folder):
    return os.path.join(folder, "bin", "python")


def variables():
    """The process's environment, with the toolkit's libraries where the loader finds them."""
    found = dict(os.environ)
    if os.path.isdir(TOOLKIT):
        found["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [TOOLKIT, found.get("LD_LIBRARY_PATH")]))
    return found


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else "no reason given"


def run(*command):
    """Raises NotToBeHad with the last line of what a command that fails prints."""
    done = subprocess.run(command, env=variables(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise NotToBeHad(last_line(done.stdout))


def install(folder, requirements):
    run(sys.executable, "-m", "pip", "--python", folder, "install", "--no-input", "--no-cache-dir", "--quiet",
        "--no-deps", "--requirement", requirements)


def make(folder):
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    install(folder, LISTS[0])
    try:
        run(python_of(folder), "-c", "import torch")
    except NotToBeHad as problem:
        if not any(words in str(problem) for words in ("cannot open shared object", "not found in the system path")):
            raise
        install(folder, LISTS[1])
    run(python_of(folder), "-c", IMPORTS)


def environment(folder):
    """The Python of the environment in `folder`, which is made where it is not there or another list made it. A process
    that comes at the same time waits. What was not finished has no stamp and is made again."""
    os.makedirs(os.path.dirname(os.path.abspath(folder)), exist_ok=True)
    with open(folder + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = os.path.join(folder, STAMP)
        try:
            with open(path, encoding="utf-8") as file:
                made = file.read()
        except OSError:
            made = None
        if made != stamp():
            make(folder)
            with open(path, "w", encoding="utf-8") as file:
                file.write(stamp())
    return python_of(folder)
