"""Builds the program with one file changed: only what includes that file is compiled, all else is linked as it is."""
import json
import os
import posixpath
import re
import resource
import shlex
import shutil
import signal
import subprocess

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
COMPILE_SECONDS = 300
MEMORY_BYTES = (70 + 8) << 30  # of addresses: the race checker reserves some 67 GiB, and touches little of them


def be_modest():
    """Low priority, no cache, limited memory for a mutant that asks for all there is; whatever is started inherits them."""
    os.nice(5)
    os.environ["CCACHE_DISABLE"] = "1"  # a compiler cache would fill with mutants
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_limited(command, folder, seconds):
    """(exit code or None after `seconds`, stdout and stderr); a negative code is a signal. Kills what it started."""
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output.decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, ""


def without_dependencies(command):
    """Without the files that Ninja keeps dependencies in."""
    kept, words = [], iter(command)
    for word in words:
        if word in ("-MT", "-MF"):
            next(words)
        elif word != "-MD":
            kept.append(word)
    return kept


class Program:
    """What a finished Ninja build knows: the command of every object, and how `target` and `others` are linked.

    A change is compiled into the objects of `folders`.
    """

    def __init__(self, build, target="reports/tally-lab", others=(), folders=("kernels/",)):
        self.build = os.path.abspath(build)
        self.root = self._cached("CMAKE_HOME_DIRECTORY")
        self.folders = folders
        self.link_line = self._link_line(target)
        self.link_lines = {None: self.link_line, **{name: self._link_line(name) for name in others}}
        linked = {word for line in self.link_lines.values() for word in line}
        self.commands = {}  # object -> its compile command; a kernel has one object plain and one checked
        self.sources = {}   # object -> its source
        for entry in json.loads(self._ninja("-t", "compdb")):
            on_device = " -x cu " in entry["command"]  # by nvcc, for a GPU: every campaign here runs on the host
            if entry["output"] in linked and entry["output"].endswith(".o") and not on_device:
                self.commands[entry["output"]] = without_dependencies(shlex.split(entry["command"]))
                self.sources[entry["output"]] = os.path.relpath(entry["file"], self.root)
        self.includes = {}
        self.linker = next((f"-fuse-ld={name}" for name in ("lld", "gold") if shutil.which(f"ld.{name}")), None)

    def _cached(self, name):
        with open(f"{self.build}/CMakeCache.txt", encoding="utf-8") as file:
            return re.search(rf"^{name}:\w+=(.*)$", file.read(), re.MULTILINE)[1]

    def _ninja(self, *arguments):
        return subprocess.run(["ninja", "-C", self.build, *arguments], check=True, capture_output=True, text=True).stdout

    def _link_line(self, target):
        link = self._ninja("-t", "commands", target).strip().splitlines()[-1]
        return shlex.split(link.split(" && ")[1])  # before it `:`, behind it `:` or what finds the tests

    def text(self, path):
        with open(f"{self.root}/{path}", encoding="utf-8") as file:
            return file.read()

    def included_by(self, path):
        """All files of the repository that `path` includes, itself too."""
        if path not in self.includes:
            found = {path}
            self.includes[path] = found
            for name in INCLUDE.findall(self.text(path)):
                for candidate in (name, posixpath.join(posixpath.dirname(path), name)):
                    if os.path.isfile(f"{self.root}/{candidate}"):
                        found |= self.included_by(posixpath.normpath(candidate))
                        break
        return self.includes[path]

    def precompiled(self):
        """Files of the repository that are read beforehand: no object sees a change of them."""
        found = set()
        for header in {line[line.index("-include") + 1] for line in self.commands.values() if "-include" in line}:
            with open(header, encoding="utf-8") as file:
                names = re.findall(r"#include <(\w+/[^>]+)>", file.read())
            found.update(*(self.included_by(name) for name in names if os.path.isfile(f"{self.root}/{name}")))
        return found

    def objects_with(self, path):
        """Shipped objects that a change of `path` touches. Seeded faults that include it stay: no mutant runs them."""
        return sorted(built for built, source in self.sources.items()
                      if built.startswith(self.folders) and path in self.included_by(source))

    def compile(self, built, path, text, folder):
        """The object `built` with `path` holding `text`, made anew below `folder`; None where it does not compile.

        Paths inside `folder` are relative and there are no line tables, so that equal code gives equal bytes.
        """
        source = self.sources[built]
        self._write(folder, path, text)
        if source != path:
            self._write(folder, source, self.text(source))
        command = list(self.commands[built])
        place = f"object/{built}"
        os.makedirs(os.path.dirname(f"{folder}/{place}"), exist_ok=True)
        command[command.index("-o") + 1] = place
        command[command.index("-c") + 1] = f"overlay/{source}"
        code, _ = run_limited([*command, "-w", "-iquote", "overlay", "-g0"], folder, COMPILE_SECONDS)
        return f"{folder}/{place}" if code == 0 else None

    def _write(self, folder, path, text):
        os.makedirs(os.path.dirname(f"{folder}/overlay/{path}"), exist_ok=True)
        with open(f"{folder}/overlay/{path}", "w", encoding="utf-8") as file:
            file.write(f'#line 1 "{self.root}/{path}"\n{text}')

    def link(self, objects, folder, target=None):
        """`target`, one of the others, or the first, with `objects` (its own -> the one to take instead); its path."""
        program = f"{folder}/{os.path.basename(target) if target else 'tally'}"
        command = [objects.get(word, word) for word in self.link_lines[target]]
        command[command.index("-o") + 1] = program
        command += [self.linker] if self.linker else []
        code, output = run_limited(command, self.build, COMPILE_SECONDS)
        if code != 0:
            raise RuntimeError(f"the program does not link: {output[:2000]}")
        return program
