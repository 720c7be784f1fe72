"""Cuts C++ into tokens, so that comments, strings and preprocessor lines are never taken for code."""
import collections
import re

Token = collections.namedtuple("Token", "kind text start end")

PATTERN = re.compile(r"""
    (?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<space>\n|[^\S\n]+)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<raw>(?:u8|[uUL])?R"(?P<fence>[^()\s\\]*)\(.*?\)(?P=fence)")
  | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
  | (?P<character>'(?:\\.|[^'\\\n])+')
  | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<mark><<=|>>=|<=>|\.\.\.|->\*|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

NOT_CODE = {"directive", "space", "comment"}


def code_tokens(text):
    """The tokens of `text` that a compiler sees after preprocessing, in order, with their places in `text`."""
    found = []
    for match in PATTERN.finditer(text):
        kind = match.lastgroup if match.lastgroup != "fence" else "raw"
        if kind not in NOT_CODE:
            found.append(Token("string" if kind == "raw" else kind, match[0], match.start(), match.end()))
    return found
