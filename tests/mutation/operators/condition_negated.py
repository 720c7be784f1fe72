"""A condition that holds when it should not: negated, `==` for `!=`, `&&` for `||`, the branches of `?:` swapped."""
from statements import control_of

SWAPPED = {"==": "!=", "!=": "==", "&&": "||", "||": "&&"}


def end_of_branch(source, i):
    """The last token of the expression that starts at i and ends before `:`, `,`, `;` or a closing bracket."""
    nested = 0
    while True:
        if source.is_mark(i, "?"):
            nested += 1
        elif source.is_mark(i, ":"):
            if nested == 0:
                return i - 1
            nested -= 1
        elif source.is_mark(i, ",", ";", ")", "]", "}"):
            return i - 1
        i = source.partner[i] if i in source.partner and source.partner[i] > i else i
        i += 1


def mutants(source):
    for i, token in enumerate(source.tokens):
        word = control_of(source, i)
        if source.is_mark(i, *SWAPPED) and source.spaced(i):
            yield i, i, SWAPPED[token.text]
        elif source.is_mark(i, "?"):
            middle = end_of_branch(source, i + 1)
            last = end_of_branch(source, middle + 2)
            yield i + 1, last, f"{source.between(middle + 2, last)} : {source.between(i + 1, middle)}"
        elif word is not None and source.tokens[word].text in ("if", "while"):
            first, last = source.partner[i] + 1, i - 1
            if not any(source.is_mark(k, "==", "!=") for k in range(first, last + 1)):
                yield first, last, f"!({source.between(first, last)})"
