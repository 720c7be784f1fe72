"""Addition and subtraction swapped, in operators and in the intrinsics of one rounding; a sign left out."""
WORDS = {"__fadd_rn": "__fsub_rn", "__fsub_rn": "__fadd_rn", "__dadd_rn": "__dsub_rn", "__dsub_rn": "__dadd_rn"}
BINARY = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
COUNTING = {"++": "--", "--": "++"}


def is_sign(source, i):
    before = source.tokens[i - 1]
    follows_value = before.kind in ("word", "number") and before.text != "return" or before.text in (")", "]")
    return source.is_mark(i, "-") and not source.gap(i + 1) and not follows_value


def joins_text(source, i):
    return "string" in (source.tokens[i - 1].kind, source.tokens[i + 1].kind)


def mutants(source):
    for i, token in enumerate(source.tokens):
        if token.text in WORDS:
            yield i, i, WORDS[token.text]
        elif source.is_mark(i, *COUNTING):
            yield i, i, COUNTING[token.text]
        elif source.is_mark(i, *BINARY) and source.spaced(i) and not joins_text(source, i):
            yield i, i, BINARY[token.text]
        elif i > 0 and is_sign(source, i):
            yield i, i, ""
