"""The changes of changes.json: a text of one file that stands there once, and what is planted in its place."""
import json
import pathlib


def changes():
    return json.loads((pathlib.Path(__file__).parent / "changes.json").read_text(encoding="utf-8"))


def applied(change, text):
    found = text.count(change["before"])
    if found != 1:
        raise ValueError(f"'{change['name']}': its text stands {found} times in {change['file']}, expected once")
    return text.replace(change["before"], change["after"])
