"""Puts one object in the place of another, by whatever name modules hold it."""
import sys


def put_everywhere(pairs):
    """Replaces objects, each by its other, in the namespaces of all modules that are loaded, also where they imported
    one by name."""
    other = {id(old): new for old, new in pairs}
    for module in list(sys.modules.values()):
        space = getattr(module, "__dict__", None)
        if isinstance(space, dict) and not other.keys().isdisjoint(map(id, list(space.values()))):
            for name in [name for name, value in list(space.items()) if id(value) in other]:
                space[name] = other[id(space[name])]
