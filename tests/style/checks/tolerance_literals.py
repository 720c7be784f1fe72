"""No tolerance is typed into a test or a property: it is derived, or the comparison is exact.

A hexadecimal power of two is a format's own number (a unit roundoff) and no tolerance by itself. The tolerances that
other projects publish are the subject of a study and stand in properties/lab/published, where nothing of Tally is judged.
"""
import re

from tree import SOURCES

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)"
SMALL = rf"{NUMBER}[eE]-\d+"
PATTERNS = [
    re.compile(r"\b(?:EXPECT|ASSERT)_(?:NEAR|FLOAT_EQ|DOUBLE_EQ)\b"),
    re.compile(r"\b(?:FloatEq|DoubleEq|FloatNear|DoubleNear|NanSensitive\w+)\b"),
    re.compile(rf"[<>]=?\s*{SMALL}"),
    re.compile(rf"{SMALL}f?\s*[<>]=?"),
    re.compile(rf"\b(?:EXPECT|ASSERT)_[LG][TE]\b.*\b{SMALL}"),
    re.compile(r"\b(?:isclose|allclose|assert_allclose|assertAlmostEqual|isApprox|isMuchSmallerThan|approx)\s*\("),
    re.compile(rf"(?:\b|_)(?:[rast]*tol|tolerance)\w*\s*[={{(]\s*{NUMBER}", re.IGNORECASE),
]
COMMENT = re.compile(r"//.*|^\s*#(?!\s*(?:if|define)).*")


def problems(tree):
    for path in tree.having(*SOURCES, ".py"):
        if not path.startswith(("tests/", "properties/")) or path.startswith(("tests/style/", "properties/lab/published/")):
            continue
        for number, line in enumerate(tree.lines(path), 1):
            if any(pattern.search(COMMENT.sub("", line)) for pattern in PATTERNS):
                yield f"{path}:{number}", f"tolerance literal: {line.strip()}"
