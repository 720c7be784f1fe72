"""The top level holds the five folders, the build's and the readers' entry points, and dotfiles; nothing else. A source
is where the build finds it and has an ending that it looks for: others would be left out, and nothing said."""
import re

TOP = {"oracle", "kernels", "properties", "tests", "reports", "CMakeLists.txt", "CMakePresets.json", "README.md",
       "LICENSE", "tally", ".ci", ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore", ".github",
       ".gitlab-ci.yml"}
OTHER_ENDING = re.compile(r"\.(?:c|cc|cxx|c\+\+|C|CPP|ipp|hh|hxx|h\+\+|inl)$")
KERNELS = ("kernels/", "properties/faults/", "tests/")
PARTS = re.compile(r"reports/command_line/(?:(?:check|verify|lab)/|[^/]+$)")
PROGRAM = re.compile(r"^add_folder_tests\((\w+)", re.MULTILINE)


def left_out(path, programs):
    """Why the build does not find it."""
    if ending := OTHER_ENDING.search(path):
        return f"nothing is built from {ending[0]}; a source ends in .cpp or .cu, a header in .hpp"
    if path.endswith(".cu") and not path.startswith(KERNELS):
        return f"a .cu is compiled in {', '.join(KERNELS)} alone"
    if path.startswith("reports/command_line/") and path.endswith(".cpp") and not PARTS.match(path):
        return "is in no part of the program: check, verify or lab"
    if path.startswith("tests/") and path.endswith("_test.cpp") and path.split("/")[1] not in programs:
        return f"no test program is made of this folder; there is one of {', '.join(sorted(programs))}"
    return None


def problems(tree):
    for top in sorted({path.split("/")[0] for path in tree.files} - TOP):
        yield top, "has no place at the top level"
    lists = "tests/CMakeLists.txt"
    programs = set(PROGRAM.findall(tree.read(lists))) if lists in tree.files else set()
    for path in tree.files:
        if reason := left_out(path, programs):
            yield path, reason
