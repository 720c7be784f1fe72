"""Statements of a source: which tokens begin one, and what kind it is."""
from source import KEYWORDS

ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=")
CONTROLS = {"if", "for", "while", "switch"}


def control_of(source, closing):
    """The word `if`, `for`, ... whose bracket ends at token `closing`, as its index, or None."""
    if not source.is_mark(closing, ")") or closing not in source.partner:
        return None
    word = source.partner[closing] - 1
    if source.is_word(word) and source.tokens[word].text == "constexpr":
        word -= 1
    return word if source.is_word(word) and source.tokens[word].text in CONTROLS else None


def begins_statement(source, i):
    around = source.enclosing[i]
    if around is None or not source.is_mark(around, "{") or not (
            source.is_word(i) or source.is_mark(i, "(", "*", "++", "--")):
        return False
    return (source.is_mark(i - 1, ";", "{", "}") or source.tokens[i - 1].text == "else"
            or control_of(source, i - 1) is not None)


def declares(source, first, last):
    """Whether the tokens hold a type followed by a name."""
    for i in range(first + 1, last + 1):
        if not source.is_word(i):
            continue
        before = i - 1
        if source.is_word(before) or (source.is_mark(before, "*", "&", ">", "&&") and before > first
                                      and source.gap(i) and not source.gap(before)):
            return True
    return False


def assignment_of(source, first, end):
    """The index of a statement's `=`, `+=`, ..., or None where it declares or assigns nothing."""
    i = first
    while i < end:
        if source.is_mark(i, *ASSIGNMENTS):
            return i if i > first and not declares(source, first, i - 1) else None
        i = source.partner[i] if i in source.partner and source.partner[i] > i else i
        i += 1
    return None


def is_call(source, first, end):
    """`name(...);`, `a.b(...);`, `(c ? f : g)(...);` and the like."""
    if not source.is_mark(end - 1, ")") or end - 1 not in source.partner:
        return False
    return source.partner[end - 1] > first and not declares(source, first, source.partner[end - 1] - 1)


def statements(source):
    """(first token, closing `;`) of every assignment, call or increment that stands alone, frozen ones left out."""
    for i, token in enumerate(source.tokens):
        if not begins_statement(source, i) or token.text in KEYWORDS or i in source.frozen:
            continue
        end = source.statement_end(i)
        if not source.is_mark(end, ";") or end <= i:
            continue
        counts = source.is_mark(i, "++", "--") or source.is_mark(end - 1, "++", "--")
        if counts or assignment_of(source, i, end) is not None or is_call(source, i, end):
            yield i, end
