"""How many turns each loop has to take, and which of these it never took.

A loop over what a run brings must be seen with 0, 1 and 2 turns. One whose condition or start names a constant of its
file, directly or through a variable of its function, must be seen with more turns than that constant, or with as many
where `min`, `?` or `&&` cuts it there; a parameter of a template may be any constant of the file. A loop that constants
alone bound must be seen at all. What a step names does not count: 2 turns pass it once.
"""
import re

WORDS_OF_TYPES = r"(?:inline|static|unsigned|int|long|auto|short|std::\w+)"
CONSTANT = re.compile(rf"\b(?:inline )?constexpr\s+(?:{WORDS_OF_TYPES}\s+)+(\w+(?: = |\{{)[^;]*);")
TEMPLATE = re.compile(r"\btemplate <([^{;]*?)>\n")
CUTS = ("min", "?", "&&")  # a bound that may end a loop just there
ARITHMETIC = re.compile(r"[\d+\-*/%<>()~&| ]+")


def constants_of(text, shared=False):
    """Name -> value of what a file declares `constexpr`, with `shared` only of what it does for whoever includes it; None
    of what decimal numbers and one another do not give: bits."""
    found = {}
    for match in CONSTANT.finditer(text):
        if shared and "inline" not in match[0]:
            continue
        for name, value in re.findall(r"(\w+)(?: = |\{)([^,]*)", re.sub(r"std::\w+\{(\w+)\}", r"\1", match[1])):
            value = re.sub(r"(?<![\w'])(\d[\d']*)[uUlLz]*\b", lambda number: number[1].replace("'", ""), value)
            value = re.sub(r"[A-Za-z_]\w*", lambda word: str(found.get(word[0]) or word[0]), value)
            simple = ARITHMETIC.fullmatch(value)
            found[name] = int(eval(value.replace("/", "//"), {"__builtins__": {}})) if simple else None  # noqa: S307
    return found


def _parts(counted, loop):
    """What decides over its turns: (start, condition), start "" of `while`; of `for (… : range)`, (None, range)."""
    inner = counted.source.text[slice(*loop.inner)]
    if not loop.head.startswith("for"):
        return "", inner
    depth, cuts = 0, []
    for i, letter in enumerate(inner):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == ";" and depth == 0:
            cuts.append(i)
    if len(cuts) == 2:
        return inner[:cuts[0]], inner[cuts[0] + 1:cuts[1]]
    return None, re.split(r"(?<!:):(?!:)", inner, maxsplit=1)[1].strip()


def _names(text):
    return set(re.findall(r"(?<![.\w>:])[A-Za-z_]\w*\b(?!\s*\(|<|::)", text))


def _origin(before, words):
    """What `words` come from: themselves and the initialisers, above the loop, of the variables that they name."""
    seen, text, todo = set(), words, _names(words)
    while todo:
        name = todo.pop()
        seen.add(name)
        for value in re.findall(rf"\b{name}(?: = |\{{)([^;]*);", before):
            text += " ; " + value
            todo |= _names(value) - seen
    return text


def _asks(words):
    """Whether a call or a member stands there."""
    return re.search(r"\w\(|[\w\])](?:\.|->)[A-Za-z_]", words) is not None


def demands(counted, loop, constants):
    """The turns that a run must have taken: numbers that must occur, and the fewest that the most may be."""
    text = counted.source.text
    start, condition = _parts(counted, loop)
    parameters = {word for head in TEMPLATE.findall(text) for word in re.findall(r"(\w+)(?:,|$)", head)}
    fixed = set(constants) | parameters
    if start is None:
        return (set(), 1) if condition.startswith("{") or condition in fixed else ({0, 1, 2}, 2)
    least = {1, 2} if condition.strip() in ("", "true") or loop.head.startswith("do") else {0, 1, 2}
    heads = [match.start() for match in re.finditer(r"^[A-Za-z_~].*\{$", text[:loop.first], re.MULTILINE)]
    origin = _origin(text[heads[-1] if heads else 0:loop.first], f"{start} ; {condition}")
    own = _names(start.split("=")[0])
    if start and not _names(origin) - own - fixed and not _asks(origin):
        return set(), 1
    reached = _names(origin)
    if reached & parameters:
        reached |= set(constants_of(text))
    named = [constants[name] for name in reached if constants.get(name) is not None]
    cut = any(mark in origin for mark in CUTS)
    return least, max(2, *(value + (not cut) for value in named)) if named else 2
