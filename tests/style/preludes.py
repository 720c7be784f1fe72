"""What headers that are compiled alone may have precompiled: nothing that they do not include before anything else.

A header sees the same after such a prelude as without it, so one that leaves an include out is found all the same."""
import functools
import re

INCLUDE = re.compile(r'#include (?:"(.*)"|(<.*>))')
# Estimated seconds to read: of what is not listed, and of these of others and of ours that read more under conditions.
OWN, OTHERS = 0.02, 0.03
COSTLY = {"<algorithm>": 0.1, "<functional>": 0.15, "<string>": 0.15, "<memory>": 0.2, "<random>": 0.3,
          "<filesystem>": 0.4, "<gtest/gtest.h>": 1, "<Eigen/Core>": 1.1, "<CLI/CLI.hpp>": 1.5,
          "<boost/multiprecision/cpp_int.hpp>": 1.5, "<boost/multiprecision/eigen.hpp>": 0.3,
          "<boost/multiprecision/mpfr.hpp>": 1.5, "kernels/device/cuda_words.hpp": 0.7}
MAKING, LOADED = 2, 0.12  # how many times its reading a prelude takes to make, and seconds to use it


class Preludes:
    def __init__(self, tree):
        self.tree = tree
        self.own = set(tree.having(".hpp", ".h"))

    def leading(self, path):
        """What is included before any other line, and under no condition."""
        for line in self.tree.lines(path):
            include = INCLUDE.match(line)
            if include:
                yield include[1] or include[2]
            elif line and line != "#pragma once" and not line.startswith("//"):
                return

    @functools.cache
    def reached(self, path):
        """All that is certainly read before the header's own first line."""
        found = {name for name in self.leading(path) if name in self.own or name.startswith("<")}
        return frozenset(found.union(*(self.reached(name) for name in found & self.own)) - {path})

    def seconds(self, names):
        return sum(COSTLY.get(name, OTHERS if name.startswith("<") else OWN) for name in names)

    def planned(self, paths):
        """(prelude, the headers compiled after it), each header in one; what saves most is chosen first."""
        reached = {self.reached(path) for path in paths}
        saves = {both: self.seconds(both) - LOADED for both in {a & b for a in reached for b in reached} if both}
        users = {names: [path for path in paths if names <= self.reached(path)] for names in saves}
        chosen = dict.fromkeys(paths, frozenset())

        def gain(names):
            saved = sum(max(0, saves[names] - saves.get(chosen[path], 0)) for path in users[names])
            return saved - MAKING * self.seconds(names)

        while saves and gain(best := max(sorted(saves, key=sorted), key=gain)) > 0:
            for path in users[best]:
                chosen[path] = max(chosen[path], best, key=lambda names: saves.get(names, 0))
        return [(names, [path for path in paths if chosen[path] == names]) for names in dict.fromkeys(chosen.values())]
