"""Tries mutants: builds each, asks the compiler whether anything changed at all, and runs the campaign."""
import collections
import concurrent.futures
import functools
import hashlib
import os
import shutil
import threading
import time

COUNTED = ("killed", "survived")


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
        objects = {built: self._unchanged(built, folder)}
        self.campaign.prove(functools.partial(self.program.link, objects, folder), folder)

    def _linker(self, objects, folder):
        """link(target=None): the path of the program, linked when first asked for; None where it holds no change."""
        @functools.cache
        def link(target=None):
            changed = not objects.keys().isdisjoint(self.program.link_lines[target])
            return self.program.link(objects, folder, target) if changed else None
        return link

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
        """Object -> the one made in its place; None where the mutant is no C++."""
        text = mutant.applied(self.program.text(mutant.file))
        changed = {}
        for built in self.program.objects_with(mutant.file):
            changed[built] = self.program.compile(built, mutant.file, text, folder)
            if changed[built] is None:
                self._original(built)  # where this fails too, the mutant is not to blame
                return None
        return changed

    def _same(self, objects):
        return all(digest(made) == self._original(built) for built, made in objects.items())

    def try_one(self, mutant):
        """(outcome, details): invalid, same_code, killed (by what) or survived."""
        folder = self._fresh(mutant.id)
        try:
            objects = self._objects(mutant, folder)
            if objects is None:
                return "invalid", {}
            if all(digest(made) == digest(f"{self.program.build}/{built}") for built, made in objects.items()):
                return "same_code", {}
            found = self.campaign.run(self._linker(objects, folder), mutant.file, folder)
            if found is not None:
                return "killed", found
            return ("same_code" if self._same(objects) else "survived"), {}
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def try_all(self, mutants, jobs, deadline, wanted, told):
        """Calls told(mutant, outcome, details, seconds) in this thread; none starts after `deadline` (monotonic), nor
        once so many as `wanted` were killed or survived."""
        counted = []

        def timed(mutant):
            started = time.monotonic()
            if started > deadline or len(counted) >= wanted:
                return "not_run", {}, 0.0
            outcome, details = self.try_one(mutant)
            counted.extend([mutant] if outcome in COUNTED else [])
            return outcome, details, time.monotonic() - started

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            running = {pool.submit(timed, mutant): mutant for mutant in mutants}
            for future in concurrent.futures.as_completed(running):
                told(running[future], *future.result())
