"""Kills runs at random times, and lets the disk be full: results are the old ones or the new ones, whole; files of
others stay as they were; no process is left, and nothing half-written. Standard library only.

    kills.py TALLY [--count 200] [--seed 1]    prints what came out, kind by kind; exits 1 at the first thing lost

The disk is a small tmpfs in a mount namespace of its own, where one may be made."""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

REPORT = ("results.json", "report.html", "junit.xml", "summary.md")
FOREIGN = {"notes.txt": "a user's", ".tally-mine": "hidden", "corpus/notes.txt": "kept", "failures/notes.txt": "seen",
           "failures/c-mine/case.json": "{}", "results.json.old": "older"}
CAMPAIGN = ["--subject", "host", "--law", "p[ae]r*", "--precision", "fp32", "--cases", "8", "--no-training",
            "--fault", "overwrite-not-add"]
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)


class Lost(Exception):
    """Something that must never be lost was."""


def require(holds, what):
    if not holds:
        raise Lost(what)


def report_in(folder):
    return {name: (folder / name).read_bytes() if (folder / name).exists() else None for name in REPORT}


def trace_is_whole(file):
    content = file.read_bytes()
    header = int.from_bytes(content[:8], "little")
    tensors = json.loads(content[8:8 + header])
    ends = [t["data_offsets"][1] for name, t in tensors.items() if name != "__metadata__"]
    return len(content) == 8 + header + max(ends, default=0)


class Runs:
    def __init__(self, program, folder, seed):
        self.program, self.folder, self.random = program, folder, random.Random(seed)
        self.template, self.out = folder / "template", folder / "out"
        self.tally("verify", *CAMPAIGN, "--seed", 1, "--out", self.template, code=1)
        for name, text in FOREIGN.items():
            (self.template / name).parent.mkdir(parents=True, exist_ok=True)
            (self.template / name).write_text(text)
        self.old = report_in(self.template)
        self.afresh()
        started = time.monotonic()
        self.tally(*self.verify(), code=1)
        self.seconds = time.monotonic() - started
        self.new = report_in(self.out)
        require(self.old != self.new and None not in self.new.values(), "the two runs to tell apart do not differ")
        started = time.monotonic()
        self.add("first", wait=True)
        self.addition = time.monotonic() - started
        self.came_out = collections.Counter()

    def verify(self):
        return ["verify", *CAMPAIGN, "--seed", 2, "--out", self.out]

    def tally(self, *arguments, code=0):
        ran = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, timeout=300)
        require(ran.returncode == code, f"{arguments} ended with {ran.returncode}: {ran.stderr[-500:]}")
        return ran

    def afresh(self):
        shutil.rmtree(self.out, ignore_errors=True)
        shutil.copytree(self.template, self.out)

    def start(self, *arguments):
        return subprocess.Popen([self.program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def no_process_is_left(self):
        def left():
            for process in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    words = (process / "cmdline").read_bytes().split(b"\0")
                    if str(self.folder).encode() in b" ".join(words) and words[0] == os.fsencode(self.program):
                        yield process.name
                except OSError:
                    pass
        for _ in range(50):
            if not list(left()):
                return
            time.sleep(0.1)
        raise Lost(f"processes are left: {list(left())}")

    def nothing_foreign_was_touched(self):
        for name, text in FOREIGN.items():
            require((self.out / name).exists() and (self.out / name).read_text() == text, f"{name} was touched")

    def nothing_is_half_written(self):
        """Hidden files a kill can leave for a moment; whoever writes there next takes them away."""
        known = {*REPORT, "run.json", "corpus", "failures"} | {name.split("/")[0] for name in FOREIGN}
        for file in self.out.rglob("*"):
            if file.is_dir() or str(file.relative_to(self.out)) in FOREIGN:
                continue
            if file.name.startswith(".tally-"):
                self.came_out["hidden file, gone with the next run"] += 1
                self.tally("report", self.out / "results.json")
                require(not file.exists() or file.parent != self.out, f"{file} stays")
            elif file.suffix == ".json":
                json.loads(file.read_text())
            elif file.suffix == ".safetensors":
                require(trace_is_whole(file), f"{file} is half a trace")
        strange = {f.name for f in self.out.iterdir() if not f.name.startswith(".tally-")} - known
        require(not strange, f"left behind: {strange}")

    def results_are_whole(self):
        """Which: old, new, or those of an interrupted run, whose pages are what they are rendered to again."""
        found = report_in(self.out)
        facts = json.loads((self.out / "run.json").read_text())
        require(facts["results_sha256"] == hashlib.sha256(found["results.json"]).hexdigest(), "run.json is of another run")
        for which, whole in (("old", self.old), ("new", self.new)):
            if found == whole:
                return which
        require(json.loads(found["results.json"])["partial"], "the results are neither old nor new nor marked partial")
        self.tally("report", self.out / "results.json", "--out", self.folder / "again")
        require(report_in(self.folder / "again") == found, "pages of one run stand beside results of another")
        return "partial"

    def kill_a_run(self, number):
        self.afresh()
        process = self.start(*self.verify())
        time.sleep(self.random.uniform(0, 1.1 * self.seconds))
        process.send_signal(number)
        _, told = process.communicate(timeout=120)
        require(process.returncode in (1, 130, -number), f"ended with {process.returncode}: {told[-500:]}")
        self.no_process_is_left()
        self.nothing_foreign_was_touched()
        self.nothing_is_half_written()
        which = self.results_are_whole()
        require(which != "partial" or process.returncode == 130, f"partial results ended with {process.returncode}")
        self.came_out[f"{number.name}: {which} results"] += 1

    def kill_a_worker(self):
        """The case under way is an error with its token, where it was drawn already, and the run goes on."""
        shutil.rmtree(self.out, ignore_errors=True)
        process = self.start("verify", *CAMPAIGN[:CAMPAIGN.index("--cases")], "--cases", 40, "--no-training", "--seed", 3,
                             "--out", self.out)
        time.sleep(self.random.uniform(0, 2 * self.seconds))
        try:
            workers = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[:1]
            for worker in workers:
                os.kill(int(worker), signal.SIGKILL)
        except OSError:
            workers = []
        _, told = process.communicate(timeout=120)
        self.no_process_is_left()
        results = json.loads((self.out / "results.json").read_text())
        require(not results["partial"] and all(law["cases"] for law in results["laws"]), "the run did not go on")
        wrong = [c for c in results["cases"] if c["status"] in ("fail", "error")]
        require(len(wrong) <= len(workers) and process.returncode == len(wrong), f"{process.returncode}, {wrong}, {told}")
        require(all(c["status"] == "error" and "ended by signal 9" in c["message"] for c in wrong), wrong)
        require(all(bool(c["token"]) != c["message"].startswith("the process that drew a case ") for c in wrong), wrong)
        self.came_out[f"SIGKILL of a worker: {'its case is an error, all else ran' if wrong else 'too early or late'}"] += 1

    def add(self, commit, wait=False):
        process = self.start("history", "add", self.template / "results.json", "--history", self.folder / "runs.jsonl",
                             "--commit", commit)
        require(not wait or process.wait() == 0, "a line cannot be added")
        return process

    def kill_an_addition(self):
        history = self.folder / "runs.jsonl"
        before = history.read_bytes()
        process = self.add(self.random.randrange(10**9))
        time.sleep(self.random.uniform(0, 1.2 * self.addition))
        process.kill()
        process.communicate(timeout=60)
        after = history.read_bytes()
        require(after.startswith(before) and after[len(before):].count(b"\n") <= 1, "the history is damaged")
        self.tally("history", "show", history)
        self.came_out[f"SIGKILL of history add: {'new' if after != before else 'old'} history"] += 1

    def fill_the_disk(self):
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        needed = sum(len(text) for text in self.new.values())
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", self.out], check=True)
        try:
            shutil.copytree(self.template, self.out, dirs_exist_ok=True)
            free = os.statvfs(self.out)
            filler = free.f_bavail * free.f_bsize - self.random.randrange(int(1.2 * needed))
            subprocess.run(["mount", "-o", f"remount,size={(64 << 20) - filler}", self.out], check=True)
            ran = subprocess.run([self.program, *map(str, self.verify())], capture_output=True, text=True, timeout=300)
            require(ran.returncode in (1, 3), f"ended with {ran.returncode}: {ran.stderr[-500:]}")
            self.no_process_is_left()
            self.nothing_foreign_was_touched()
            self.nothing_is_half_written()
            which = self.results_are_whole()
            require((which == "new") == (ran.returncode == 1), f"{which} results, but code {ran.returncode}: {ran.stderr}")
            require(which == "new" or "cannot write" in ran.stderr, f"no word of it: {ran.stderr}")
            self.came_out[f"disk full: {which} results"] += 1
        finally:
            subprocess.run(["umount", self.out], check=True)

    def go(self, count, disks):
        kinds = [*(lambda n=n: self.kill_a_run(n) for n in SIGNALS), self.kill_an_addition, self.kill_a_worker]
        if disks:
            kinds.insert(1, self.fill_the_disk)
        for i in range(count):
            kinds[i % len(kinds)]()


def in_a_namespace():
    """Runs this again where it may mount; here where that cannot be."""
    own = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    if shutil.which("unshare") and subprocess.run([*own, "true"], capture_output=True).returncode == 0:
        os.execvp(own[0], [*own, sys.executable, "-B", *sys.argv, "--disks"])
    print("not run: a full disk: no mount namespace can be made here")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--disks", action="store_true", help=argparse.SUPPRESS)
    words = parser.parse_args()
    if not words.disks:
        in_a_namespace()
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(words.program, pathlib.Path(folder), words.seed)
        try:
            runs.go(words.count, words.disks)
        except Lost as lost:
            print(f"seed {words.seed}, after {sum(runs.came_out.values())}: {lost}")
            return 1
        finally:
            print(f"{words.count} asked for, {runs.seconds:.1f} s each undisturbed, seed {words.seed}")
            for what, times in sorted(runs.came_out.items()):
                print(f"{times:5}  {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
