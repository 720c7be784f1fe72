"""Runs of a script: the processes in which it is run, and what they leave."""
import contextlib
import hashlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

import torch

from ..user_code import CaptureError
from .executor import ASK, Ended, Executor
from .loaders import repeated, stepped_early
from .presets import PRESETS, other_rows, what_next, words_missing
from .processes import found_in, remove_kept
from .weights import HALF_OF_64, flat, solved, unlike, with_terms

PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNMOVED = 0, ""
EQUAL_ONLY = ("only equal micro-batches were dealt: no DataLoader deals them, or it drops a short last batch; a script that can deal others "
              "says so by {sizes}")
BY_ROWS = "only equal micro-batches were dealt: the script counts rows, not micro-batches, before it steps"
KEPT_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**36), "MALLOC_TOP_PAD_": str(2**28)}  # malloc gives none back
SLOW = 10  # seconds of silence that a progress line breaks where no terminal is


class Script(Executor):
    """A script and its arguments. `words` are further ones, in which {rows} is the rows of a micro-batch, {k} the number of
    micro-batches, {sizes} the rows of each with commas, and {out} a folder for what a run writes."""

    def __init__(self, script, arguments, words, preset=None, module=False, rows=8, windows=2, seed=0, folder=".",
                 nproc=()):
        super().__init__(rows, windows, seed)
        self.script, self.arguments, self.words, self.preset, self.module = script, arguments, words, preset, module
        self.sizes_told = "{sizes}" in " ".join(words)
        self.nproc = list(nproc)  # where there are some, all runs have torchrun's environment variables
        self.folder, self.count, self.began, self.about, self.said_at = folder, 0, time.time(), 0, 0
        self.times = 0  # how often a window of the whole batch trains on a row
        self.first, self.passes = None, 0  # the first run, until it is asked for; how often a window passes through its rows
        self.process, self.rows_of_all, self.drawn = None, None, None
        self.kept = {}  # the files of whole runs, by what they were moved by and what was held still
        self.beside = None  # names of tensors beside what is trained that the whole batch changes

    def loop(self):
        return {"name": os.path.basename(self.script), "file": self.script, "line": None, "kind": "script", "torch": torch.__version__}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @staticmethod
    def told(word, sizes, scratch, ranks=1):
        """A word of the command line."""
        sizes = sizes[:len(sizes) // ranks]
        keys = {"{rows}": max(sizes), "{k}": len(sizes), "{ranks}": ranks, "{sizes}": ",".join(map(str, sizes)), "{out}": scratch}
        for key, value in keys.items():
            word = word.replace(key, str(value))
        return word

    def start(self):
        """The process that runs what it is asked for."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [PACKAGES, os.environ.get("PYTHONPATH")])),
                       "PYTHONHASHSEED": "0", "CUBLAS_WORKSPACE_CONFIG": ":4096:8", **KEPT_MEMORY}
        command = [sys.executable, "-B", "-m", "tally_recorder.varied.driver", *filter(None, [self.preset])]
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        start_new_session=True, bufsize=0)

    def close(self):
        """Ends all processes, and leaves no tensors."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()
            self.process = None
        for path in self.kept.values():
            remove_kept(path)

    def made(self, run, keeps=None):
        """(seen, left): what a run showed, and the gradients where they were watched. `keeps` names what is kept of it."""
        self.count += 1
        folder = os.path.abspath(os.path.join(self.folder, f"run-{self.count}"))
        shutil.rmtree(folder, ignore_errors=True)
        sizes, ranks, scratch = run["sizes"] or [self.rows], run["ranks"], os.path.join(folder, "out")
        os.makedirs(scratch)
        path = os.path.join(folder, "run.json")
        if keeps:
            self.kept[keeps] = os.path.join(folder, "kept.bin")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**run, "keep": self.kept.get(keeps), "script": self.script,
                       "arguments": [self.told(word, sizes, scratch, ranks) for word in [*self.arguments, *self.words]],
                       **{key: getattr(self, key) for key in ("module", "rows", "windows", "seed", "preset")}}, file)
        if self.process is None:
            self.start()
        self.process.stdin.write(f"{ranks if self.nproc else 0} {path}\n".encode())
        while not select.select([self.process.stdout], [], [], 1)[0]:
            self.say_progress()
        end = self.process.stdout.readline().decode().strip()
        if not end:
            raise CaptureError(f"vary: found the end of {sys.executable}, which runs the script, expected its answer; see what it said "
                               "above")
        try:
            seen, left = found_in(folder, ranks, run["watch"] is not None)
        except OSError:
            seen, left = {"error": {"type": "the process", "text": f"ended with status {end}; {self.last_line(folder)}",
                                    "file": self.script, "line": None}}, {}
        shutil.rmtree(os.path.join(folder, "out"))
        if seen["error"] and seen["error"]["type"] == "SystemExit":
            seen["error"]["text"] = f"exit status {seen['error']['text']}; {self.last_line(folder)}"
        if seen.get("refused"):
            raise CaptureError(seen["refused"])
        return seen, left

    @staticmethod
    def last_line(folder):
        with open(os.path.join(folder, "said.log"), encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file if line.strip()]
        return lines[-1][:200] if lines else "it said nothing"

    def asked(self, ask, watch=None, keeps=None, against=None):
        """`watch` is the window whose gradients are kept. `against` is a file of another run."""
        seen, left = self.made({**{key: ask[key] for key in ("sizes", "ranks", "precision", "moved", "frozen")}, "watch": watch,
                                "beside": self.beside, "moved_by": ask.get("moved_by") or "float32", "against": against}, keeps)
        if seen.get("drawn") and not self.drawn:
            self.drawn = "{by} at {file}:{line}".format(**seen["drawn"])
            self.note(f"the script draws numbers for each micro-batch ({self.drawn}): other micro-batches draw others")
        return seen, left

    def ended(self, ask):
        """The run that is asked for."""
        moved, frozen, own = (ask["moved"], ask["moved_by"]), tuple(ask["frozen"]), self.is_whole(ask) and not ask["again"]
        of = (UNMOVED if own else moved, frozen)  # what it is held against
        if not self.first and (not own or moved != UNMOVED):
            self.whole(*of)
        seen, _ = self.first or self.asked(ask, keeps=(moved, frozen) if own else None, against=self.kept.get(of))
        self.first = None
        dealt = [] if seen["error"] or not seen["dealt"] else seen["dealt"][0]
        self.passes = self.passes or len(dealt)
        sizes = ask["sizes"] or [self.rows]
        steps_elsewhere = dealt and not len(sizes) <= len(dealt) <= len(sizes) * self.passes
        uneven = len(set(sizes)) > 1 and not seen["error"]
        early = None if seen["error"] else stepped_early(seen["dealt"], sizes)
        if own and not self.times:
            self.times = max((times for _, times in seen.get("repeated", [])), default=0)
        if steps_elsewhere and not early and not (uneven and not self.sizes_told):
            found, expected = (", ".join(map(str, value)) for value in (dealt, sizes))
            on = f" on {ask['ranks']} ranks" if ask["ranks"] > 1 else ""
            raise CaptureError(f"{self.script}: found a step after micro-batches of {found} rows where "
                               f"{self.what_was_asked(sizes, ask['ranks'])} was said, expected one after {expected}{on}; {words_missing(self.words)}")
        if uneven and (steps_elsewhere or not self.can_deal_unequal(seen)):
            self.equal_only = True  # the program asks for no further ones, and leaves this one alone
            self.note(BY_ROWS if steps_elsewhere else EQUAL_ONLY)
        elif not seen["error"] and not early and not ask["moved"] and ask["precision"] == self.precisions[0]:
            self.compare_rows(ask, seen["rows"])
        rows = "" if ask["moved"] else hashlib.sha256("|".join(",".join(sorted(set(window))) for window in seen.get("rows", [])).encode()).hexdigest()
        if seen["error"] and own:
            self.kept.pop((moved, frozen), None)
        found = {key: seen.get(key, []) for key in ("tensors", "steps", "micro_batches", "items", "options", "uncleared", "left_over")}
        return Ended(**found, rows_hash=rows, stepped_early=early, ranks_apart=seen.get("ranks_apart", ""),
                     repeated=repeated(seen, sizes, self.times), error=seen["error"], trained=seen.get("trained", True))

    def apart(self, ended, _):
        """Its own process has compared the run."""
        return ended.tensors

    def compare_rows(self, ask, rows):
        """Says how many rows a run trains on that the first did not."""
        rows = [set(window) for window in rows]
        self.rows_of_all = self.rows_of_all or rows
        other, lost = (sum(len(a - b) for a, b in zip(*pair)) for pair in ((rows, self.rows_of_all), (self.rows_of_all, rows)))
        if other or lost:
            sizes, ranks = ask["sizes"] or [self.rows], ask["ranks"]
            dealt = ", ".join(map(str, sizes[:len(sizes) // ranks])) + " rows" + (f" on each of {ranks} ranks" if ranks > 1 else "")
            self.note(f"with micro-batches of {dealt} the script trains on {other} rows that the windows of the whole batch do not "
                      f"have, and leaves out {lost}")

    def prepare(self):
        """The first run, of the whole batch: what the script is like. It may have fewer windows than were asked for, and no
        float64."""
        whole = UNMOVED, ()
        seen, _ = self.asked(ASK, keeps=whole)
        if seen["error"]:
            lower, _ = self.asked({**ASK, "precision": "float32"}, keeps=whole)
            if lower["error"]:
                raise CaptureError(f"{self.script}: found {error_in_words(lower['error'])} with the whole batch at once "
                                   f"({self.what_was_asked([self.rows])}), expected a script that trains; "
                                   f"{what_next(lower, self.rows, self.preset)}, see {os.path.join(self.folder, f'run-{self.count}', 'said.log')}")
            self.precisions = ["float32"]
            self.note(f"float64 cannot be had: {error_in_words(seen['error'])}; float32 is judged against its own noise")
            seen = lower
        if not seen["optimizers"] or not seen["steps"]:
            raise CaptureError(f"{self.script}: found no step of a PyTorch optimizer, expected a training loop; name the script that "
                               "trains")
        if len(seen["steps"]) < self.windows:
            self.note(f"the script ends after {len(seen['steps'])} of {self.windows} windows")
            self.windows = len(seen["steps"])
        found = seen["dealt"][0][0] if seen["dealt"] and seen["dealt"][0] else None
        if found not in (None, self.rows):
            raise CaptureError(f"{self.script}: found {found} rows in a micro-batch where {self.what_was_asked([self.rows])} was said, "
                               f"expected {self.rows}; {other_rows(seen, self.rows)}")
        if found is None:
            self.note("no rows were seen: all tensors that the models are given are computed ones")
        if not self.can_deal_unequal(seen):
            self.equal_only = True
            self.note(EQUAL_ONLY)
        if seen["dropped"]:
            self.note("dropout was off in all runs")
        if seen["compiled"]:
            self.note("torch.compile was left out")
        self.layers, self.beside = seen["layers"], seen["beside"]
        for said in seen["said"]:
            self.note(said)
        self.about = 3 + 2 * len(self.nproc) + (sum(self.rows % k == 0 for k in range(2, self.rows + 1)) if self.equal_only else 6)
        self.first = seen, {}

    def can_deal_unequal(self, seen):
        return seen["short_last"] or self.sizes_told

    def what_was_asked(self, sizes, ranks=1):
        if self.words:
            return " ".join(self.told(word, sizes, "", ranks) for word in self.words)
        return PRESETS[self.preset].said

    def weights(self, ask):
        """Fits the gradients that each micro-batch leaves: the whole batch's gradient as a sum of them says what each
        weighs, and what it should. A window that began with other parameters (`parted`) tells nothing of what it
        should."""
        sizes, ranks, window, frozen = ask["sizes"], ask.get("ranks", 1), ask.get("window", 0), ask.get("frozen", [])
        entry = {"sizes": sizes, "ranks": ranks, "window": window, "frozen": frozen, "found": [], "meant": [], "rest": None, "meant_rest": None,
                 "terms": [], "terms_rest": None, "place": None}
        run = {"precision": self.precisions[0], "moved": 0, "frozen": frozen}
        (seen, cut), (_, whole) = (self.asked({**run, "sizes": each, "ranks": of}, window) for each, of in ((sizes, ranks), (None, 1)))
        places = seen.get("places", {})
        entry.update(places=places, place=places.get("step"))
        columns, dealt = cut.get("columns") or [], [*seen.get("dealt", []), [], []][window]
        fewer = len(dealt) == len(sizes) and ranks == 1 and sum(dealt) < sum(sizes)
        if columns and len(columns) == len(dealt) and (fewer or len(dealt) != len(sizes)) and all(dealt):
            entry["dealt"] = dealt  # such as the last window of an epoch, which has fewer rows
        dealt = entry.get("dealt", sizes)
        if seen["error"] or len(columns) != len(dealt) or not whole.get("handed"):
            return entry
        stages = ("accumulated", "handed") if ranks == 1 else ("handed",)  # what ranks have is reduced behind the first
        stage = next((stage for stage in stages if unlike(cut[stage], whole[stage])), "handed")
        names = sorted(set(cut[stage]).intersection(whole[stage], *columns))
        entry.update(stage=stage, place=places.get("step" if stage == "handed" else "backward"))
        target, wanted = (flat(each[stage], names) if names else None for each in (cut, whole))
        columns = [flat(column, names) for column in columns] if names else []
        if not names or not all(bool(column.isfinite().all()) for column in (*columns, target, wanted)) or not bool(wanted.any()):
            return entry
        has, rest = solved(columns, target)
        should, meant_rest = solved(columns, wanted)
        if window and unlike(*(dict(each["terms"])["the parameters"] for each in (cut, whole))):
            should, meant_rest, entry["parted"] = has, rest, True
        live = [bool(column.any()) for column in columns]  # a micro-batch may hold nothing that counts
        if not all(other for other, own in zip(should, live) if own):
            return entry
        rows = sum(dealt)
        entry.update(found=[one / (rows * other) if own else 0.0 for one, other, own in zip(has, should, live)],
                     meant=[own / rows for own in live], rest=rest, meant_rest=meant_rest)
        if not rest <= HALF_OF_64:
            entry["terms"], entry["terms_rest"] = with_terms(columns, target, cut["terms"], names)
        return entry

    def say_progress(self):
        now = time.time()
        terminal = sys.stderr.isatty()
        if now - self.said_at < (1 if terminal else 3 * SLOW) or not terminal and now - self.began < SLOW:
            return
        self.said_at, spent = now, now - self.began
        left = spent / max(self.count - 1, 1) * max(self.about - self.count + 1, 1)
        line = f"run {self.count} of about {self.about}, {length(spent)}, about {length(left)} left" if self.about >= self.count else \
            f"run {self.count}, {length(spent)}"
        print(f"\r{line}\033[K" if terminal else line, end="" if terminal else "\n", file=sys.stderr, flush=True)

    def say_done(self):
        """Clears the progress line."""
        if self.said_at and sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def length(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def error_in_words(error):
    place = f" at {error['file']}:{error['line']}" if error["line"] else ""
    return f"{error['type']}{place} ({error['text']})"
