"""Mutants: one change of one place, by one operator. Every file of operators/ is one operator, named after itself."""
import dataclasses
import hashlib
import importlib
import os
import re

from source import Source

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclasses.dataclass(frozen=True)
class Mutant:
    """`before` and `after` are the touched lines in one, `nth` counts equal changes of a function from 1."""
    file: str
    function: str
    line: int
    operator: str
    start: int
    end: int
    replacement: str
    before: str
    after: str
    nth: int

    @property
    def key(self):
        return (self.file, self.function, self.before, self.after, self.nth)

    @property
    def id(self):
        return hashlib.sha256("\0".join(map(str, self.key)).encode()).hexdigest()[:10]

    def applied(self, text):
        return text[:self.start] + self.replacement + text[self.end:]


def operators():
    """Operator modules by name; mutants(source) of each yields (first token, last token, replacement)."""
    names = sorted(name[:-3] for name in os.listdir(f"{HERE}/operators") if name.endswith(".py"))
    return {name: importlib.import_module(f"operators.{name}") for name in names}


def function_at(text, offset):
    """The name at the head of the unindented block around `offset`; the formatter leaves no body unindented."""
    heads = [match for match in re.finditer(r"^[A-Za-z_][^\n]*", text[:offset], re.MULTILINE)
             if not match[0].startswith("template")]
    if not heads:
        return ""
    words = re.findall(r"[\w~]+(?=\()|(?<=struct )\w+|(?<=class )\w+", re.split(r"[={]", heads[-1][0])[0])
    return words[0] if words else ""


def _changed(source, operator, start, end, replacement, seen):
    text = source.text
    begin, finish = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    finish = len(text) if finish < 0 else finish
    before = " ".join(text[begin:finish].split())
    after = " ".join((text[begin:start] + replacement + text[end:finish]).split())
    function = function_at(text, start)
    seen[function, before, after] = nth = seen.get((function, before, after), 0) + 1
    return Mutant(source.path, function, text.count("\n", 0, start) + 1, operator, start, end, replacement, before,
                  after, nth)


def mutants_of(path, text, wanted=None):
    """All mutants of a file, in the order of their places; a change that two operators make belongs to the first."""
    source = Source(path, text)
    changes = {}
    for name, operator in operators().items():
        if wanted is not None and not wanted(name):
            continue
        for first, last, replacement in operator.mutants(source):
            if source.frozen.isdisjoint(range(first, last + 1)):
                start, end = source.tokens[first].start, source.tokens[last].end
                if text[start:end] != replacement:
                    changes.setdefault((start, end, replacement), name)
    seen = {}
    return [_changed(source, changes[change], *change, seen) for change in sorted(changes)]
