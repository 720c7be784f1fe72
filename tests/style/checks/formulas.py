"""A formula stands once, numbered, at the top of its kind's file; whatever else speaks of it cites the number.

`// (kind.1)  y = …` in the comment at the top of `kind.cpp`, or of `kind_exact.cpp`, defines (kind.1). Numbers run 1, 2,
3 …; each is cited below or in another file, and what is cited is defined. Labels are looked for in comments of C++ and
CUDA and in pages, where nothing between backticks is one. A kind is the name of a file that registers exact mathematics,
or of an exact file; any other word of letters is a mistake.
"""
import os
import re

from tree import SOURCES

EXACT = "_exact.cpp"
ROOMS = re.compile(r"(?:^|/)oracle/(?:layers|losses|recipe)/[^/]+\.cpp$")
REGISTERS = re.compile(r"^const Register<\w+Definition> ", re.MULTILINE)
LABEL = re.compile(r"\(([a-z][a-z0-9_]+)\.([0-9]+)\)")
LETTERS = re.compile(r"[a-z_]+")
DEFINED = re.compile(rf"// {LABEL.pattern}  \S")
TEXT = r'R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\[^\'\n]+|[^\'\\\n])\''  # may hold two slashes, no comment
COMMENT = re.compile(TEXT + r"|(//[^\n]*|/\*.*?\*/)", re.DOTALL)  # group 2
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def blank(text):
    return "\n" * text.count("\n")


def comments(text):
    kept, end = [], 0
    for match in COMMENT.finditer(text):
        kept += [blank(text[end:match.start()]), match[2] or blank(match[0])]
        end = match.end()
    return "".join(kept)


def prose(text):
    return CODE.sub(lambda code: blank(code[0]), text)


def kind_of(path):
    return os.path.basename(path).removesuffix(".cpp").removesuffix("_exact")


def registers(tree, path):
    return ROOMS.search(path) and REGISTERS.search(tree.read(path))


def kind_files(tree):
    return [path for path in tree.having(".cpp") if path.endswith(EXACT) or registers(tree, path)]


def defined_in(tree, path):
    """(line, number) of each formula that an exact file defines."""
    for line, words in enumerate(tree.lines(path), 1):
        if not words.startswith("//"):
            return
        match = DEFINED.match(words)
        if match and match[1] == kind_of(path):
            yield line, int(match[2])


def labels_in(tree, path, kinds):
    """(line, (kind, number)) of each label."""
    text = tree.read(path)
    for line, words in enumerate((prose(text) if path.endswith(".md") else comments(text)).split("\n"), 1):
        for kind, number in LABEL.findall(words):
            if kind in kinds or LETTERS.fullmatch(kind):
                yield line, (kind, int(number))


def problems(tree):
    places = {}  # of every definition: its file and line
    files = kind_files(tree)
    for path in files:
        expected = 1
        for line, number in defined_in(tree, path):
            label = kind_of(path), number
            if label in places:
                yield f"{path}:{line}", f"({label[0]}.{number}) is defined in {places[label][0]} as well"
                continue
            places[label] = path, line
            if number != expected:
                yield f"{path}:{line}", f"({label[0]}.{number}) stands where ({label[0]}.{expected}) should follow"
            expected += 1
        if expected == 1 and registers(tree, path):
            yield path, f"numbers no formula at its top, as // ({kind_of(path)}.1)  y = …"
    kinds, cited = {kind_of(path) for path in files}, set()
    for path in tree.having(*SOURCES, ".md"):
        for line, label in labels_in(tree, path, kinds):
            if label not in places:
                yield f"{path}:{line}", f"({label[0]}.{label[1]}) is defined nowhere"
            elif (path, line) != places[label]:
                cited.add(label)
    for label in places.keys() - cited:
        path, line = places[label]
        yield f"{path}:{line}", f"({label[0]}.{label[1]}) is cited nowhere"
