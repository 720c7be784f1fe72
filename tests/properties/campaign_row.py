"""What a campaign that has run found: campaign_row.py FOLDER, its exit code; campaign_row.py FOLDER LAW, of one law.
campaign_row.py FOLDER -- COMMAND… runs it first, and fails only where it leaves no verdict."""
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree


def ran(folder, command):
    for name in ("exit_code", "junit.xml"):
        (folder / name).unlink(missing_ok=True)
    code = subprocess.run(command, check=False).returncode
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "exit_code").write_text(str(code))
    return 0 if code in (0, 1) and (folder / "junit.xml").exists() else code or 3


def found_of(folder, law):
    """0 where what must differ did, cases of the law passed, and none failed or had an error."""
    all_cases = list(ElementTree.parse(folder / "junit.xml").getroot().iter("testcase"))
    cases = [case for case in all_cases if case.get("classname").split(".")[0] == law]
    control = [case for case in all_cases if case.get("classname") == "controls" and case.get("name") == law]
    bad = [case for case in cases + control if any(part.tag in ("failure", "error") for part in case)]
    passed = sum(len(case) == 0 for case in cases)
    for case in bad:
        print(case.get("classname"), case.get("name"), *(part.get("message") or part.text for part in case), sep="\n  ")
    print(f"{law}: {passed} of {len(cases)} cases passed, {len(bad)} failed, {'the' if control else 'no'} control counted")
    return 0 if passed and control and not bad else 1


if __name__ == "__main__":
    where, rest = pathlib.Path(sys.argv[1]), sys.argv[2:]
    if rest[:1] == ["--"]:
        sys.exit(ran(where, rest[1:]))
    sys.exit(found_of(where, rest[0]) if rest else int((where / "exit_code").read_text()))
