"""A header's functions are defined in the file of its name, or in files that the comment at its top names.

Files that end with a record register themselves and need no header."""
import os
import re

ROOMS = ("oracle/", "kernels/", "properties/", "reports/")
RECORD = re.compile(r"\bconst Register\w*(?:<[^;{(]*>)? \w+[({]")


def top(lines):
    comment = []
    for line in lines:
        if not line.startswith("//"):
            break
        comment.append(line[2:])
    return " ".join(comment)


def problems(tree):
    named = set()
    for header in tree.having(".hpp"):
        for word in re.findall(r"[\w/]+\.cpp", top(tree.lines(header))):
            named.add(word if "/" in word else os.path.join(os.path.dirname(header), word))
    files = set(tree.files)
    for path in tree.having(".cpp"):
        if not path.startswith(ROOMS) or os.path.basename(path) == "main.cpp":
            continue
        if path[:-4] + ".hpp" in files or path in named or RECORD.search(tree.read(path)):
            continue
        yield path, "no header has its name, and none says at its top that it is defined here"
