"""No file over 300 lines; data is no text to read and does not count, nor does what a run wrote and the repository keeps."""

LIMIT = 300
KEPT = "reports/evidence/"
DATA = (".json", ".csv", ".safetensors", ".png", ".svg", ".gz", ".npy")


def problems(tree):
    for path in tree.files:
        if not path.endswith(DATA) and not path.startswith(KEPT):
            count = len(tree.lines(path))
            if not count <= LIMIT:
                yield path, f"{count} lines; at most {LIMIT}"
