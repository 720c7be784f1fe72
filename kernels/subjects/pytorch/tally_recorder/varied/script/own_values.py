"""Values of a script's own that a preset replaces: an argument of argparse is given what the preset says, and what stays as the
script has it, and is read elsewhere, is told."""
import argparse
import ast
import importlib.util
import os
import sys

LEAVES = ast.Name, ast.Attribute, ast.Subscript


def is_leaf(node):
    return isinstance(node, LEAVES) and (not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Constant))


def argument_of(leaf):
    """What argparse would call it: args.NAME, or vars(args)["NAME"]."""
    found = leaf.attr if isinstance(leaf, ast.Attribute) else leaf.slice.value if isinstance(leaf, ast.Subscript) else None
    return found if isinstance(found, str) else None


def leaves_of(node):
    """The outermost in an expression."""
    return [node] if is_leaf(node) else [leaf for child in ast.iter_child_nodes(node) for leaf in leaves_of(child)]


class Passed:
    """An expression that a call or a dict gives under a preset's `word`, and `leaves`, by their text, of which it is made, with what
    argparse would call them; one that is assigned another is that one too."""

    def __init__(self, word, value, assigned):
        self.word, self.value, self.leaves, self.nodes = word, value, {}, set()
        todo = leaves_of(value)
        while todo:
            leaf = todo.pop()
            self.nodes |= set(map(id, ast.walk(leaf)))
            if ast.unparse(leaf) not in self.leaves:
                self.leaves[ast.unparse(leaf)] = argument_of(leaf)
                todo += filter(is_leaf, assigned.get(ast.unparse(leaf), ()))

    def arguments(self):
        """Those that it equals; none where it is computed."""
        return [name for name in self.leaves.values() if name] if is_leaf(self.value) else []


class Source:
    """One file of the script."""

    def __init__(self, file, words):
        self.file, self.passed, self.nodes = file, [], []
        try:
            with open(file, encoding="utf-8") as text:
                self.nodes = list(ast.walk(ast.parse(text.read())))
        except (OSError, ValueError, SyntaxError):
            return
        assigned = {}
        for node in self.nodes:
            for target in node.targets if isinstance(node, ast.Assign) else ():
                if is_leaf(target):
                    assigned.setdefault(ast.unparse(target), []).append(node.value)
        for node in self.nodes:
            self.passed += [Passed(word, value, assigned) for word, value in given_by(node) if word in words and not isinstance(value, ast.Constant)]

    def elsewhere(self, passed, but):
        """(line, text) that reads what was passed first, but for where a preset's word is given, and for these arguments; None where
        none does."""
        stays = {text for text, argument in passed.leaves.items() if argument not in but}
        own = {node for each in self.passed for node in each.nodes}
        return min(((node.lineno, ast.unparse(node)) for node in self.nodes if is_leaf(node) and id(node) not in own
                    and isinstance(node.ctx, ast.Load) and ast.unparse(node) in stays), default=None)


def given_by(node):
    """(word, value) that a call or a dict names; a DataLoader's batch size may stand without its name."""
    if isinstance(node, ast.Call):
        if ast.unparse(node.func).endswith("DataLoader") and len(node.args) > 1:
            yield "batch_size", node.args[1]
        yield from ((keyword.arg, keyword.value) for keyword in node.keywords)
    elif isinstance(node, ast.Dict):
        yield from ((key.value, value) for key, value in zip(node.keys, node.values) if isinstance(key, ast.Constant))


def file_of(script, is_module):
    found = importlib.util.find_spec(script) if is_module else None
    return found.origin if found else os.path.abspath(script)


class OwnValues:
    """`words` are a preset's: how it names the rows of a micro-batch, and their number, with what they are in this run."""

    def __init__(self, words, script, is_module):
        self.words, self.script, self.is_module, self.sources = words, script, is_module, {}
        self.set, self.arguments = set(), set()  # words and arguments that were
        parses, values = argparse.ArgumentParser.parse_known_args, self

        def parse_known_args(parser, *args, **kwargs):
            found, rest = parses(parser, *args, **kwargs)
            values.replace(found)
            return found, rest
        argparse.ArgumentParser.parse_known_args = parse_known_args

    def files(self):
        """The script's, and what is imported from beside it."""
        main = file_of(self.script, self.is_module)
        beside = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        for file in dict.fromkeys([main, *(file for file in beside if file and os.path.dirname(file) == os.path.dirname(main))]):
            self.sources.setdefault(file, None)
            self.sources[file] = self.sources[file] or Source(file, self.words)
        return list(self.sources.values())

    def replace(self, namespace):
        """In what argparse found."""
        for passed in (passed for source in self.files() for passed in source.passed):
            for name in passed.arguments():
                if type(getattr(namespace, name, None)) is int:
                    setattr(namespace, name, self.words[passed.word])
                    self.set.add(passed.word)
                    self.arguments.add(name)

    def notes(self):
        """One for each value that stays."""
        for source in self.files():
            for passed in source.passed:
                read = source.elsewhere(passed, self.arguments) if passed.word not in self.set else None
                if read:
                    text, file = ast.unparse(passed.value), os.path.basename(source.file)
                    yield (f"the preset replaces {passed.word}={text} at {file}:{passed.value.lineno}, but line {read[0]} reads "
                           f"{read[1]} too, which stays as the script has it in all runs: a loop that divides by it is not "
                           "seen; vary it by --set, in words that the script reads")
