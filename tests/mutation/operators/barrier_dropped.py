"""A barrier between threads is missing."""
from statements import is_call, statements


def mutants(source):
    for first, end in statements(source):
        if source.tokens[first].text.startswith("__sync") and is_call(source, first, end):
            yield first, end, ";"
