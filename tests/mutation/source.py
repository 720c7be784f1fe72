"""A source file as the operators see it: tokens, brackets that belong together, statements, enclosing functions."""
from tokens import code_tokens

OPENING = {"(": ")", "[": "]", "{": "}"}
# Not mutated: what compiles to no code of its own, the words of errors, registrations, declarations of shared memory.
FROZEN_STATEMENTS = {"using", "static_assert", "throw", "refuse", "friend", "typedef"}
FROZEN_NAMES = ("Register", "TALLY_SHARED", "TALLY_DYNAMIC_SHARED")
KEYWORDS = {"return", "if", "else", "for", "while", "do", "switch", "case", "default", "break", "continue", "struct",
            "class", "enum", "namespace", "template", "const", "constexpr", "static", "inline", "auto", "delete",
            "public", "private"} | FROZEN_STATEMENTS


class Source:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = code_tokens(text)
        self.partner = {}   # index of a bracket -> index of the other; template brackets too
        self.enclosing = []  # index of the innermost open (, [ or { of each token, or None
        self._match_brackets()
        self._match_angles()
        self.frozen = set()
        self._freeze()

    def _match_brackets(self):
        stack = []
        for i, token in enumerate(self.tokens):
            if token.kind == "mark" and token.text in OPENING.values() and stack:
                opening = stack.pop()
                self.partner[opening], self.partner[i] = i, opening
            self.enclosing.append(stack[-1] if stack else None)
            if token.kind == "mark" and token.text in OPENING:
                stack.append(i)

    def _match_angles(self):
        """`name<...>` without spaces inside the brackets' ends, as the formatter leaves template arguments."""
        for i in range(1, len(self.tokens)):
            opens = self.is_mark(i, "<") and not self.gap(i + 1)
            if opens and (self.tokens[i - 1].text == "template" or
                          self.tokens[i - 1].kind == "word" and not self.gap(i)):
                end = self._angle_end(i)
                if end is not None:
                    self.partner[i] = end

    def _angle_end(self, i):
        depth = 0
        while i < len(self.tokens):
            text = self.tokens[i].text
            if text == "<":
                depth += 1
            elif text in (">", ">>"):
                depth -= len(text)
                if depth <= 0:
                    return i
            elif text in OPENING:
                i = self.partner.get(i, len(self.tokens))
            elif text in (";", ")", "]", "}"):
                return None
            i += 1
        return None

    def _freeze(self):
        for i, token in enumerate(self.tokens):
            if token.text == "template" and self.is_mark(i + 1, "<") and i + 1 in self.partner:
                self.frozen.update(range(i, self.partner[i + 1] + 1))
            elif token.text in FROZEN_STATEMENTS or token.text.startswith(FROZEN_NAMES):
                self.frozen.update(range(i, self.statement_end(i) + 1))

    def is_mark(self, i, *texts):
        return 0 <= i < len(self.tokens) and self.tokens[i].kind == "mark" and self.tokens[i].text in texts

    def is_word(self, i):
        return 0 <= i < len(self.tokens) and self.tokens[i].kind == "word"

    def gap(self, i):
        """Whether anything stands between token i and the one before it."""
        return 0 < i < len(self.tokens) and self.tokens[i - 1].end < self.tokens[i].start

    def spaced(self, i):
        """Whether the formatter set token i as a binary operator."""
        return self.gap(i) and self.gap(i + 1)

    def between(self, first, last):
        return self.text[self.tokens[first].start:self.tokens[last].end]

    def statement_end(self, i):
        """The `;` that ends the statement of token i, or the last token inside the bracket around it."""
        while i < len(self.tokens) - 1:
            if self.is_mark(i, ";"):
                return i
            if self.is_mark(i, *OPENING.values()):
                return i - 1
            i = self.partner[i] if self.is_mark(i, *OPENING) and i in self.partner else i
            i += 1
        return i

    def arguments(self, opening):
        """The comma-separated parts of a bracket, each as its first and last token."""
        closing, parts, first, i = self.partner[opening], [], opening + 1, opening + 1
        while i < closing:
            if self.is_mark(i, ","):
                parts.append((first, i - 1))
                first = i + 1
            i = self.partner[i] if i in self.partner and self.partner[i] > i else i
            i += 1
        if first < closing:
            parts.append((first, closing - 1))
        return [part for part in parts if part[0] <= part[1]]
