"""Data files that carry a SHA-256 (a file SHA256SUMS beside them) still have it."""
import hashlib
import os


def problems(tree):
    for path in tree.files:
        if os.path.basename(path) != "SHA256SUMS":
            continue
        for line in tree.lines(path):
            expected, name = line.split(maxsplit=1)
            data = os.path.join(os.path.dirname(path), name.lstrip("*"))
            if data not in tree.files:
                yield data, f"is listed in {path} and does not exist"
                continue
            with open(f"{tree.root}/{data}", "rb") as file:
                found = hashlib.sha256(file.read()).hexdigest()
            if found != expected:
                yield data, f"SHA-256 {found}; {path} says {expected}"
