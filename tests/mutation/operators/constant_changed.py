"""A wrong constant: whole numbers one off, fractions a 128th off, the other truth value."""
import re

FRACTION = re.compile(r"(\d*\.\d*(?:[eE][+-]?\d+)?)([fF]?)$")
WHOLE = re.compile(r"(\d+)([uUlL]*)$")
MASK = re.compile(r"(0[xX][0-9a-fA-F]+)([uUlL]*)$")
TRUTH = {"true": "false", "false": "true"}


def changed(text):
    if match := FRACTION.match(text):
        value = float(match[1])
        other = 1.0 if value == 0 else 2.0 if value == 1 else value * (1 + 1 / 128)
        return [f"{other!r}{match[2]}"]
    if match := WHOLE.match(text):
        value = int(match[1])
        return [f"{other}{match[2]}" for other in ([2, 0] if value == 1 else [value + 1])]
    if match := MASK.match(text):
        return [f"{hex(int(match[1], 16) >> 1)}{match[2]}"]
    return []


def mutants(source):
    for i, token in enumerate(source.tokens):
        if token.kind == "number":
            for other in changed(token.text):
                yield i, i, other
        elif token.text in TRUTH:
            yield i, i, TRUTH[token.text]
