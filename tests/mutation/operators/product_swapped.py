"""Multiplication and division swapped; a remainder turned into a quotient."""
WORDS = {"__fmul_rn": "__fdiv_rn", "__fdiv_rn": "__fmul_rn", "__fsqrt_rn": "", "__dmul_rn": "__ddiv_rn"}
BINARY = {"*": "/", "/": "*", "%": "/", "*=": "/=", "/=": "*="}


def mutants(source):
    for i, token in enumerate(source.tokens):
        if token.text in WORDS:
            yield i, i, WORDS[token.text]
        elif source.is_mark(i, *BINARY) and source.spaced(i):
            yield i, i, BINARY[token.text]
