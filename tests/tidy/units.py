"""Puts many sources into one translation unit, so that Eigen and the standard library are read once for all of them.

A unit includes copies of its sources: a name that two of them define in an unnamed namespace gets a number in each. One
that cannot be renamed, as it is a member's name too, keeps its sources apart.
"""
import collections
import os
import re

LARGEST = 40
JUDGES = ("kernels", "oracle", "properties")
UNNAMED = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r"^(?:template <.*>\s)?(?:struct|class|enum(?: class)?|union|using) (\w+)|^namespace (\w+) =", re.MULTILINE)
OBJECT = re.compile(r"^(?!return |using |struct |class |enum |namespace )[A-Za-z_][\w:<>,*& ]*[ *&](\w+)(?=\(|\{|;|\[| =)",
                    re.MULTILINE)
NUMBERED = re.compile(r"_in_\d+\b")


def unnamed_names(text):
    inside = "\n".join(UNNAMED.findall(text))
    return {name for names in TYPE.findall(inside) for name in names if name} | set(OBJECT.findall(inside))


def fixed_names(text):
    """Macros, main, and unnamed names that are a member's name as well."""
    members = set(re.findall(r"(?:[\w)\]]\.|->|::)(\w+)", text))
    return set(re.findall(r"^(?:#define|int(?= main\()) (\w+)", text, re.MULTILINE)) | unnamed_names(text) & members


def units(sources, read):
    """Lists of sources of one top folder that share no name that cannot be renamed."""
    found = []
    for source in sources:
        text = read(source)
        names, fixed = unnamed_names(text), fixed_names(text)
        for folder, members, all_names, all_fixed in found:
            if folder == source.split("/")[0] and len(members) < LARGEST and not (names & all_fixed or fixed & all_names):
                members.append(source)
                all_names |= names | fixed
                all_fixed |= fixed
                break
        else:
            found.append((source.split("/")[0], [source], names | fixed, fixed))
    return [members for _, members, _, _ in found]


def renamed(text, number, shared):
    """Only what is shared gets a number: the other names may be overloads of a header's."""
    names = (unnamed_names(text) - fixed_names(text)) & shared
    if not names:
        return text
    alternatives = "|".join(sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w.\"/:])(?<!->)({alternatives})\b(?![\w/]*\.(?:hpp|cpp|cuh?|h)\b)", rf"\1_in_{number}", text)


def include(paths, folder):
    """Writes a unit that includes them into a folder, and says where it is."""
    unit = f"{folder}/unit.cpp"
    with open(unit, "w", encoding="utf-8") as file:
        file.writelines(f'#include "{path}"  // NOLINT: a unit includes sources\n' for path in paths)
    return unit


def write(sources, folder, read):
    """The same of renamed copies; a source alone stays as it is."""
    if len(sources) == 1:
        return include(sources, folder)
    times = collections.Counter(name for source in sources for name in unnamed_names(read(source)))
    shared = {name for name in times if times[name] > 1}
    for number, source in enumerate(sources):
        copy = f"{folder}/{source}"
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(copy, "w", encoding="utf-8") as file:
            file.write(renamed(read(source), number, shared))
    return include([f"{folder}/{source}" for source in sources], folder)


def header_units(headers):
    """What judges goes together, each other top folder alone: no two in a unit give one name to two things."""
    def unit(header):
        folder = header.split("/")[0]
        return "what judges" if folder in JUDGES else folder

    return [[header for header in headers if unit(header) == name] for name in sorted(set(map(unit, headers)))]
