"""Nothing names a path or a host that only some machine has."""
import re

PATH = re.compile(r"(?<![\w.$}/*-])/(?:home|root|work|workspace|Users|builds)/\w|\b[A-Z]:\\\\?\w")
HOST = re.compile(r"pypi\.org|pythonhosted\.org|deb\.debian\.org|archive\.ubuntu\.com|registry\.npmjs|crates\.io")


def problems(tree):
    for path in tree.files:
        for number, line in enumerate(tree.lines(path), 1):
            if PATH.search(line):
                yield f"{path}:{number}", f"absolute path of one machine: {line.strip()[:100]}"
            if HOST.search(line):
                yield f"{path}:{number}", f"names a registry's host: {line.strip()[:100]}"
