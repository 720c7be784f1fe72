"""A guard left out: an early `return`, `continue` or `break` never taken, or what a condition guarded always done."""
from statements import control_of

LEAVING = {"return", "continue", "break"}


def mutants(source):
    for closing in range(len(source.tokens)):
        word = control_of(source, closing)
        if word is None or source.tokens[word].text != "if":
            continue
        condition = source.partner[closing] + 1, closing - 1
        body = closing + 2 if source.is_mark(closing + 1, "{") else closing + 1
        leaves = source.is_word(body) and source.tokens[body].text in LEAVING
        yield *condition, "false" if leaves else "true"
