"""Two neighbouring arguments swapped, in calls and in braces; of designated members, their values."""
COMMUTE = {"__fadd_rn", "__fmul_rn", "__dadd_rn", "__dmul_rn", "min", "max", "fmin", "fmax"}
CONTROL = {"if", "for", "while", "switch", "return", "constexpr"}


def is_parameter(source, part):
    """`type name`: a declared parameter, no argument."""
    first, last = part
    if last == first or not source.is_word(last):
        return False
    before = last - 1
    typed = source.is_mark(before, "*", "&", ">", "...") and source.gap(last) and not source.gap(before)
    return typed or source.is_word(before)


def value_of(source, part):
    """The part, or what stands behind `.name =`."""
    first, last = part
    if source.is_mark(first, ".") and source.is_mark(first + 2, "="):
        return first + 3, last
    return part


def is_list_of_values(source, i):
    if i not in source.partner or i == 0:
        return False
    before = source.tokens[i - 1]
    if source.is_mark(i, "("):
        called = before.kind == "word" and before.text not in CONTROL | COMMUTE or before.text in (")", ">", "]")
        return called and not source.gap(i)
    return source.is_mark(i, "{") and (before.text in ("(", ",", "=", "return", "{") or not source.gap(i))


def could_swap(source, one, other):
    """Not a text for a number, nor a lambda or a braced list for a value: those never compile."""
    kinds = [token.text if source.is_mark(i, "[", "{") else token.kind == "string"
             for i, token in ((i, source.tokens[i]) for i in (one[0], other[0]))]
    return kinds[0] == kinds[1]


def mutants(source):
    for i in range(len(source.tokens)):
        if not is_list_of_values(source, i):
            continue
        parts = source.arguments(i)
        if any(is_parameter(source, part) for part in parts):
            continue
        values = [value_of(source, part) for part in parts]
        for (a, b), (c, d) in zip(values, values[1:]):
            if could_swap(source, (a, b), (c, d)):
                middle = source.text[source.tokens[b].end:source.tokens[c].start]
                yield a, d, source.between(c, d) + middle + source.between(a, b)
