"""Files and folders are named after what they hold."""
import re

EMPTY = {"util", "utils", "helper", "helpers", "common", "misc"}


def problems(tree):
    parts = {}
    for path in tree.files:
        steps = path.split("/")
        for depth in range(1, len(steps) + 1):
            parts["/".join(steps[:depth])] = steps[depth - 1]
    for path, name in parts.items():
        if EMPTY & set(re.split(r"[^a-z]+", name.lower())):
            yield path, "the name says nothing; name it after what it holds"
