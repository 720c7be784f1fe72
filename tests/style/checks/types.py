"""A type of one name stands once in a namespace: two of them in two headers are one to the linker, which keeps the
functions of either for both."""
import re

NAMESPACE = re.compile(r"namespace (?:([\w:]+) )?\{")
TYPE = re.compile(r"(?:struct|class|enum class) (\w+)(?: final)?(?: :[^;]*)? ?(?:\{|$)")


def problems(tree):
    seen = {}
    for path in tree.having(".hpp", ".cuh"):
        namespace = ""
        for number, line in enumerate(tree.lines(path), 1):
            entered, defined = NAMESPACE.match(line), TYPE.match(line)
            if entered:
                namespace = entered[1] or path
            if defined:
                first = seen.setdefault((namespace, defined[1]), path)
                if first != path:
                    yield f"{path}:{number}", f"{namespace}::{defined[1]} is a type of {first} too"
