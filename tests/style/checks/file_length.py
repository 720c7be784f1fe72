"""No file over 300 lines; data is no text to read and does not count."""

LIMIT = 300
DATA = (".json", ".csv", ".safetensors", ".png", ".svg", ".gz", ".npy")


def problems(tree):
    for path in tree.files:
        if not path.endswith(DATA):
            count = len(tree.lines(path))
            if not count <= LIMIT:
                yield path, f"{count} lines; at most {LIMIT}"
