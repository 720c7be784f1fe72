"""Changes of a list such as changes.json: a text of one file that stands there once, and what is planted in its place."""
import json
import os
import pathlib
import shutil

CHANGES = pathlib.Path(__file__).parent / "changes.json"


def changes(path=CHANGES):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def applied(change, text):
    found = text.count(change["before"])
    if found != 1:
        raise ValueError(f"'{change['name']}': its text stands {found} times in {change['file']}, expected once")
    return text.replace(change["before"], change["after"])


def hold_to_files(test, root, path=CHANGES):
    """For a test case: every change of the list has its place once in the files as they are, and changes them."""
    for change in changes(path):
        text = (pathlib.Path(root) / change["file"]).read_text(encoding="utf-8")
        test.assertNotEqual(applied(change, text), text, change["name"])


def built_with(built, change, folder, checked=False):
    """The program (tests/mutation/program.py) with the change planted, for the race checker too if asked to; None where it
    does not compile."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    text = applied(change, built.text(change["file"]))
    objects = {}
    for name in built.objects_with(change["file"]):
        if "checked" in name and not checked:
            continue
        objects[name] = built.compile(name, change["file"], text, folder)
        if objects[name] is None:
            return None
    return built.link(objects, folder)
