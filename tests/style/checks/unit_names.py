"""A name in an unnamed namespace stands in one of the sources that may be compiled together (kernels/units.cmake): two
in one enclosing namespace are redefined, or they are overloads, and what is added to one source changes which of them a
call in another takes. Functions, constants, types and aliases are names; operators, members, specialisations and an
alias said twice in the same words are not. A source that repeats one has a namespace of its own. A sample of an
addition counts where it would stand."""
import os
import re

TOGETHER = re.compile(r"_(bound|exact|predicted)\.cpp$")  # as kernels/units.cmake groups the sources of a folder
NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|\b\d[\w'.]*|'(?:\\.|[^'\\\n])+'"
                     r"|^[ \t]*#(?:\\\n|[^\n])*", re.DOTALL | re.MULTILINE)
NAMESPACE = re.compile(r"(?:inline )?namespace ?([\w:]*)$")
TYPE = re.compile(r"(?:struct|class|union|enum(?: class)?) (\w+)(?: final)?(?: :.*)?$")
ALIAS = re.compile(r"(?:using|namespace) (\w+)(?: auto.*| __attribute__.*)? ?=")
OTHER = re.compile(r"using |typedef |static_assert\b|friend |extern |[^\w\[:]")  # or the rest of an initialiser
ARGUMENTS = re.compile(r"<[^<>()]*(?:\([^()]*\)[^<>()]*)*>")
BRACKETED = r" ?\([^()]*(?:\([^()]*\)[^()]*)*\)"
BEFORE_PARENTHESES = re.compile(rf"\b(?:decltype|alignas|__launch_bounds__|__attribute__){BRACKETED}")
TEMPLATE = re.compile(rf"^template *(?:requires{BRACKETED} )?|\[\[.*?\]\] ?")
DECLARED = re.compile(r"(?<!::)\b(\w+)$")
FURTHER = re.compile(r", (\w+) (?==)")
SAMPLE = re.compile(r"tests/additions/samples/\w+/")
ALONE = {"kernels/device/gemm/gemm_block.cpp"}  # compiled with options of its own


def plain(found):
    """What stands for a comment, a directive, a text or a number, on as many lines."""
    text = found[0]
    if text[0].isdigit():
        return text.replace("'", "")
    return ("" if text[0] in "/# \t" else "0") + "\n" * text.count("\n")


def statements(text):
    """(line, enclosing namespaces, head, whether a body follows) of each that is in a namespace and in nothing else."""
    text = NO_CODE.sub(plain, text)
    outer, start, depth = [], 0, 0
    for sign in re.finditer(r"[(){};]", text):
        head = text[start:sign.start()]
        if depth == 0 and sign[0] in "{;":
            entered = sign[0] == "{" and NAMESPACE.match(" ".join(head.split()))
            if not entered:
                line = text.count("\n", 0, start + len(head) - len(head.lstrip())) + 1
                yield line, tuple(outer), " ".join(head.split()), sign[0] == "{"
        if sign[0] in "({":
            if depth == 0 and sign[0] == "{" and entered:
                outer.append(entered[1])
                start = sign.end()
            else:
                depth += 1
        elif depth == 0 and sign[0] == "}":
            outer.pop()
        elif sign[0] in ")}":
            depth -= 1
        if depth == 0 and sign[0] in "};":
            start = sign.end()


def names_of(head, has_body):
    """What a statement in a namespace defines or declares that is a name of its own."""
    whole, specialised = head, head.startswith("template <>")
    head = BEFORE_PARENTHESES.sub("auto", head)
    while (less := ARGUMENTS.sub("", head)) != head:
        head = less
    head = TEMPLATE.sub("", head).strip()
    if specialised or "operator" in head:
        return []
    if defined := TYPE.match(head):
        return [defined[1]] if has_body else []
    if alias := ALIAS.match(head):
        return [(alias[1], whole)]
    declarator = re.split(r"[(=\[,](?!:)|(?<!:):(?!:)", head, maxsplit=1)[0]
    declared = DECLARED.search(declarator.strip())
    if OTHER.match(head) or not declared or declared.start() == 0:  # a macro that is called has no type
        return []
    return [declared[1], *(FURTHER.findall(head) if "(" not in head else [])]


def unnamed(tree, path):
    """(enclosing namespace, name, its text where it may repeat, line) of each name in an unnamed namespace."""
    for line, outer, head, has_body in statements(tree.read(path)):
        if "" in outer:
            for name in names_of(head, has_body):
                name, alias = name if isinstance(name, tuple) else (name, None)
                yield "::".join(filter(None, outer)), name, alias, line


def problems(tree):
    seen = {}
    for path in tree.having(".cpp", ".cu"):
        stands = SAMPLE.sub("", path)
        if stands in ALONE or stands.startswith("tests/") and not stands.endswith("_test.cpp"):
            continue
        group = os.path.dirname(stands), os.path.splitext(stands)[1], *TOGETHER.findall(stands)
        for namespace, name, alias, line in unnamed(tree, path):
            first, meant = seen.setdefault((group, namespace, name), (path, alias))
            if first != path and (alias is None or alias != meant):
                yield f"{path}:{line}", f"{namespace}::{name} is a name of {first} too"
