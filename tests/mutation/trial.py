"""Tries mutants: builds each, asks the compiler whether anything changed at all, and runs the campaign."""
import collections
import concurrent.futures
import hashlib
import os
import shutil
import threading
import time


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Trial:
    def __init__(self, program, campaign, folder):
        self.program, self.campaign, self.folder = program, campaign, folder
        self.originals = {}  # object -> its digest, unchanged
        self.locks = collections.defaultdict(threading.Lock)

    def prove(self):
        """The unchanged program, built the same way, has to pass the campaign."""
        folder = self._fresh("unchanged")
        built = min(self.program.commands)
        self.campaign.prove(self.program.link({built: self._unchanged(built, folder)}, folder), folder)

    def _fresh(self, name):
        folder = f"{self.folder}/{name}"
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return folder

    def _unchanged(self, built, folder):
        source = self.program.sources[built]
        made = self.program.compile(built, source, self.program.text(source), folder)
        if made is None:
            raise RuntimeError(f"the unchanged {source} does not compile")
        return made

    def _original(self, built):
        with self.locks[built]:
            if built not in self.originals:
                self.originals[built] = digest(self._unchanged(built, self._fresh(f"original/{built}")))
            return self.originals[built]

    def _objects(self, mutant, folder):
        """Object -> the one made in its place, for those whose code changed; None where the mutant is no C++."""
        text = mutant.applied(self.program.text(mutant.file))
        changed = {}
        for built in self.program.objects_with(mutant.file):
            original = self._original(built)  # first: where this fails, the mutant is not to blame
            made = self.program.compile(built, mutant.file, text, folder)
            if made is None:
                return None
            if digest(made) != original:
                changed[built] = made
        return changed

    def try_one(self, mutant):
        """(outcome, details): invalid, same_code, killed (by what) or survived."""
        folder = self._fresh(mutant.id)
        try:
            objects = self._objects(mutant, folder)
            if objects is None:
                return "invalid", {}
            if not objects:
                return "same_code", {}
            found = self.campaign.run(self.program.link(objects, folder), mutant.file, folder)
            return ("survived", {}) if found is None else ("killed", found)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def try_all(self, mutants, jobs, deadline, told):
        """Calls told(mutant, outcome, details, seconds) in this thread; none starts after `deadline` (monotonic)."""
        def timed(mutant):
            started = time.monotonic()
            if deadline is not None and started > deadline:
                return "not_run", {}, 0.0
            return (*self.try_one(mutant), time.monotonic() - started)

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            running = {pool.submit(timed, mutant): mutant for mutant in mutants}
            for future in concurrent.futures.as_completed(running):
                told(running[future], *future.result())
