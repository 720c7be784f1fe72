"""A folder's README has at most 40 lines, a line of a page at most 120 characters where it is no row of a table,
and every relative link of every page leads somewhere."""
import os
import re

LIMIT = 40
WIDTH = 120
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def problems(tree):
    for path in tree.having(".md"):
        count = len(tree.lines(path))
        if os.path.basename(path) == "README.md" and path != "README.md" and not count <= LIMIT:
            yield path, f"{count} lines; a folder's README has at most {LIMIT}"
        if not path.startswith("reports/evidence/"):
            for number, line in enumerate(tree.lines(path), 1):
                if len(line) > WIDTH and not line.startswith("|") and " " in line[:WIDTH].strip():
                    yield f"{path}:{number}", f"{len(line)} characters; at most {WIDTH}"
        prose = CODE.sub(lambda code: "\n" * code[0].count("\n"), tree.read(path))
        for match in LINK.finditer(prose):
            target = match[1].split("#")[0]
            if not target or re.match(r"[a-z]+:", target):
                continue
            if not os.path.exists(os.path.join(tree.root, os.path.dirname(path), target)):
                yield f"{path}:{prose.count(chr(10), 0, match.start()) + 1}", f"{target} does not exist"
