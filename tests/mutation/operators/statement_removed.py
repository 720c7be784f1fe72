"""An assignment, a call or a count left out."""
from statements import statements


def mutants(source):
    for first, end in statements(source):
        yield first, end, ";"
