"""Runs one style check: check.py NAME [--root FOLDER] [--include FOLDER]… [--samples]

NAME is a file of checks/; its problems(tree) yields (place, message), place being `path` or `path:line`.
--samples proves that the check can fail: it must find in samples/NAME exactly the places that expected.txt there lists.
Exit status 0 without a problem, 1 with one, 77 when the check cannot run here (its message says why).
"""
import argparse
import importlib
import os
import sys

from tree import Tree

HERE = os.path.dirname(os.path.abspath(__file__))



def find(check, tree):
    return sorted(check.problems(tree))


def check_repository(check, tree):
    found = find(check, tree)
    for place, message in found:
        print(f"{place}: {message}")
    print(f"{len(found)} problems in {len(tree.files)} files")
    return 1 if found or not tree.files else 0


def check_samples(check, name):
    folder = f"{HERE}/samples/{name}"
    with open(f"{folder}/expected.txt", encoding="utf-8") as file:
        expected = set(file.read().split())
    places = {place for place, _ in find(check, Tree(folder))}
    for place in sorted(expected - places):
        print(f"missed: {place}")
    for place in sorted(places - expected):
        print(f"false alarm: {place}")
    print(f"{len(expected & places)} of {len(expected)} bad samples found")
    return 0 if expected and places == expected else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--root", default=os.path.join(HERE, "..", ".."))
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--samples", action="store_true")
    options = parser.parse_args()
    sys.path.insert(0, HERE)
    check = importlib.import_module(f"checks.{options.name}")
    reason = check.cannot_run() if hasattr(check, "cannot_run") else None
    if reason:
        print(f"skipped: {reason}")
        return 77
    if options.samples:
        return check_samples(check, options.name)
    return check_repository(check, Tree(options.root, options.include))


if __name__ == "__main__":
    sys.exit(main())
