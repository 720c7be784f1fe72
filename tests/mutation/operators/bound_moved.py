"""A bound that takes its end in, or leaves it out."""
SWAPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def mutants(source):
    for i, token in enumerate(source.tokens):
        if source.is_mark(i, *SWAPPED) and source.spaced(i):
            yield i, i, SWAPPED[token.text]
