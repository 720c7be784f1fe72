"""An index one too large or one too small."""


def is_subscript(source, i):
    """A bracket right behind a value; neither a lambda's nor a declared array's."""
    if not source.is_mark(i, "[") or i not in source.partner or source.partner[i] == i + 1 or source.gap(i):
        return False
    before = source.tokens[i - 1]
    declared = (source.is_mark(source.partner[i] + 1, ";") and source.tokens[i - 2].kind == "word"
                and source.tokens[i - 2].text != "return" or source.is_mark(i - 2, "*") and not source.gap(i - 2))
    return not declared and (before.kind == "word" or before.text in ("]", ")"))


def mutants(source):
    for i in range(2, len(source.tokens)):
        if is_subscript(source, i):
            first, last = i + 1, source.partner[i] - 1
            index = source.between(first, last)
            index = index if first == last else f"({index})"
            yield first, last, f"{index} + 1"
            yield first, last, f"{index} - 1"
