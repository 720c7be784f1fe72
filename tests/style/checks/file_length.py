"""No file over 300 lines, and none of a kind over 500, whose formulas, bound and claims read together; data is no text to
read and does not count, nor does what a run wrote and the repository keeps."""
import re

LIMIT, LIMIT_OF_A_KIND = 300, 500
KIND = re.compile(r"(?:^|/)oracle/(?:layers|losses|operations|recipe)/[^/]+\.cpp$")
KEPT = "reports/evidence/"
DATA = (".json", ".csv", ".safetensors", ".png", ".svg", ".gz", ".npy")


def problems(tree):
    for path in tree.files:
        if not path.endswith(DATA) and not path.startswith(KEPT):
            count = len(tree.lines(path))
            limit = LIMIT_OF_A_KIND if KIND.search(path) else LIMIT
            if not count <= limit:
                yield path, f"{count} lines; at most {limit}"
