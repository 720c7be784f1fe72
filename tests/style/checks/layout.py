"""The top level holds the five folders, the build's and the readers' entry points, and dotfiles; nothing else."""

TOP = {"oracle", "kernels", "properties", "tests", "reports", "CMakeLists.txt", "CMakePresets.json", "README.md",
       "LICENSE", "tally", ".ci", ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore", ".github",
       ".gitlab-ci.yml"}


def problems(tree):
    for top in sorted({path.split("/")[0] for path in tree.files} - TOP):
        yield top, "has no place at the top level"
