"""Sets counters around the loops of a source, and tells the places of what a compiler then sees."""
import dataclasses
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "mutation"))

from source import Source  # noqa: E402

MOST = 64  # loops of a file; with room for 1024 files in turns.hpp


@dataclasses.dataclass(frozen=True)
class Loop:
    number: int
    line: int
    head: str      # `for (…)`, `while (…)` or `do … while (…)`, in one line
    first: int     # its place in the text, where the word stands
    inner: tuple   # the place of the text between the header's brackets


class Counted:
    """`text` is what to compile; loops and original(line, column) speak of the source as it stands."""

    def __init__(self, path, text, first_number):
        self.source = Source(path, text)
        self.lines = [0, *(match.end() for match in re.finditer("\n", text))]  # where each begins
        self.loops = []
        self.tails = set()  # the `while` that ends a `do`
        inserted = []
        for i, token in enumerate(self.source.tokens):
            if token.kind == "word" and token.text in ("for", "while", "do") and i not in self.tails:
                inserted += self._around(i, first_number + len(self.loops))
        if len(self.loops) > MOST:
            raise RuntimeError(f"{path}: {len(self.loops)} loops; expected at most {MOST}: raise counted.MOST")
        self._insert(text, sorted(inserted))

    def _around(self, i, number):
        source = self.source
        if source.tokens[i].text == "do":
            end = source.partner[i + 1] if source.is_mark(i + 1, "{") else source.statement_end(i)
            tail = end + 1
            self.tails.add(tail)
            opening, body = tail + 1, source.tokens[i].end
        else:
            opening = i + 1
            body = source.tokens[source.partner[opening]].end
        inner = (source.tokens[opening].end, source.tokens[source.partner[opening]].start)
        word = "do … while" if source.tokens[i].text == "do" else source.tokens[i].text
        first = source.tokens[i].start
        self.loops.append(Loop(number, source.text.count("\n", 0, first) + 1,
                               f"{word} ({' '.join(source.text[slice(*inner)].split())})", first, inner))
        name = f"turns_{number}"
        return [(first, f"for (::tally_turns::Run {name}({number}); {name}.once();) "),
                (body, f" if (!{name}.turn()) {{}} else ")]

    def _insert(self, text, inserted):
        parts, at, self.moves = [], 0, {}  # line -> [(column of the original, how much more before it)]
        for place, added in inserted:
            parts += [text[at:place], added]
            at = place
            begin = text.rfind("\n", 0, place) + 1
            self.moves.setdefault(text.count("\n", 0, place) + 1, []).append((place - begin, len(added)))
        self.text = "".join([*parts, text[at:]])

    def original(self, line, column):
        """The column, from 1, of what stands there in `text`; None where that was set by this file."""
        shift = 0
        for place, added in self.moves.get(line, []):
            if column - 1 < place + shift:
                break
            if column - 1 < place + shift + added:
                return None
            shift += added
        return column - shift

    def offset(self, line, column):
        return self.lines[line - 1] + column - 1
