"""What was to be added replaces what was there: `+=` turned into `=`, and `sum = add(sum, x)` into `sum = x`."""
from statements import assignment_of, statements


def mutants(source):
    for first, end in statements(source):
        place = assignment_of(source, first, end)
        if place is None:
            continue
        if source.tokens[place].text in ("+=", "-=", "*=", "/="):
            yield place, place, "="
            continue
        opening = place + 2
        if not (source.is_word(place + 1) and source.is_mark(opening, "(") and source.partner[opening] == end - 1):
            continue
        target, parts = source.between(first, place - 1), source.arguments(opening)
        others = [part for part in parts if source.between(*part) != target]
        if len(parts) == 2 and len(others) == 1:
            yield place + 1, end - 1, source.between(*others[0])
