"""Presets: how the frameworks are told the rows and the number of micro-batches, what a script keeps of its own values, and what
to do where it does not deal what was asked for."""
import argparse
import ast
import contextlib
import importlib
import importlib.util
import json
import os
import sys

LIGHTNING = ("lightning.pytorch", "pytorch_lightning")
OF_TRAINER = {"Trainer", "Seq2SeqTrainer", "TrainingArguments", "Seq2SeqTrainingArguments"}
LEAVES = ast.Name, ast.Attribute, ast.Subscript


def trainer(rows, count):
    import transformers
    kind = transformers.TrainingArguments
    original = kind.__post_init__

    def __post_init__(arguments):
        arguments.per_device_train_batch_size, arguments.gradient_accumulation_steps = rows, count
        for name in ("fp16", "bf16", "torch_compile", "auto_find_batch_size"):
            if getattr(arguments, name, None):
                setattr(arguments, name, False)
        original(arguments)
    kind.__post_init__ = __post_init__


def accelerate(_, count):
    import accelerate as framework
    original = framework.Accelerator.__init__

    def __init__(accelerator, *args, **kwargs):
        original(accelerator, *args, **{**kwargs, "mixed_precision": "no"})
        accelerator.gradient_accumulation_steps = count
    framework.Accelerator.__init__ = __init__


def lightning(_, count):
    for name in LIGHTNING:
        try:
            framework = importlib.import_module(name)
        except ImportError:
            continue

        def __init__(trainer, *args, original=framework.Trainer.__init__, **kwargs):
            kwargs.pop("precision", None)
            original(trainer, *args, **{**kwargs, "accumulate_grad_batches": count})
        framework.Trainer.__init__ = __init__


def deepspeed(rows, count):
    import deepspeed as framework
    original = framework.initialize

    def initialize(*args, config=None, config_params=None, **kwargs):
        given = config or config_params or getattr(kwargs.get("args"), "deepspeed_config", None)
        if isinstance(given, str):
            with open(given, encoding="utf-8") as file:
                given = json.load(file)
        given = {key: value for key, value in given.items() if key not in ("train_batch_size", "fp16", "bf16")}
        given.update(train_micro_batch_size_per_gpu=rows, gradient_accumulation_steps=count)
        return original(*args, config=given, **kwargs)
    framework.initialize = initialize


class Preset:
    """`said` is what it sets, in the framework's words; `flags` go behind the script's arguments; `patch(rows, count)` is
    called in the script's process before it begins; `loaders`: a DataLoader's batch size is set as well. `modules` are what
    it patches, of those that are there, and `words` what the framework calls the rows, and the number."""

    def __init__(self, said, patch=None, flags="", loaders=False, modules=(), words=()):
        self.said, self.patch, self.flags, self.loaders, self.modules, self.words = said, patch, flags, loaders, modules, words

    def values(self, rows, count):
        """{word: value} of a run."""
        return dict(zip(self.words, (rows, count)))


def load(modules):
    """Imports modules once for all runs; a device that is seen at import cannot be used behind a fork."""
    if not os.path.exists("/dev/nvidiactl"):
        for name in modules:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


PRESETS = {
    "trainer": Preset("TrainingArguments' per_device_train_batch_size and gradient_accumulation_steps", trainer,
                      modules=("transformers.trainer",), words=("per_device_train_batch_size", "gradient_accumulation_steps")),
    "lightning": Preset("Lightning's Trainer(accumulate_grad_batches=…) and the DataLoader's batch_size", lightning, loaders=True,
                        modules=LIGHTNING, words=("batch_size", "accumulate_grad_batches")),
    "accelerate": Preset("Accelerator(gradient_accumulation_steps=…) and the DataLoader's batch_size", accelerate, loaders=True,
                         modules=("accelerate",), words=("batch_size", "gradient_accumulation_steps")),
    "deepspeed": Preset("DeepSpeed's train_micro_batch_size_per_gpu and gradient_accumulation_steps", deepspeed,
                        modules=("deepspeed",), words=("train_micro_batch_size_per_gpu", "gradient_accumulation_steps")),
    "torchtune": Preset("torchtune's batch_size and gradient_accumulation_steps",
                        flags="batch_size={rows} gradient_accumulation_steps={k} dtype=fp32 compile=False"),
    "nanogpt": Preset("nanoGPT's batch_size and gradient_accumulation_steps, with dropout and evaluation off",
                      flags="--batch_size={rows} --gradient_accumulation_steps={k} --eval_iters=0 --dropout=0.0 --compile=False "
                      "--dtype=float32"),
}


def detected(text):
    """The preset of a script, by what it imports; None where it is none of these."""
    if "configurator.py" in text:
        return "nanogpt"
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    modules, names = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module.partition(".")[0])
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
    if "trl" in modules or "transformers" in modules and names & OF_TRAINER:
        return "trainer"
    if modules & {"lightning", "pytorch_lightning"} and "Trainer" in names:
        return "lightning"
    return next((name for name in ("deepspeed", "torchtune", "accelerate") if name in modules), None)


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
        """Replaces them in what argparse found."""
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


def words_missing(words):
    """What to do where steps come after other micro-batches than were said."""
    if words and not any(key in word for word in words for key in ("{k}", "{sizes}")):
        return "{k} is missing in --set: the number of micro-batches of a step, as in '--batch-size {rows} --accum {k}'"
    return "give the script's own words for both in --set"


def fewer_rows(seen, rows):
    if seen.get("fewer") is None:
        return None
    return f"the script's data set has {seen['fewer']} rows and a window of --rows {rows} needs as many; name fewer"


def other_rows(seen, rows):
    """What to do where the whole batch has other rows than were said."""
    return fewer_rows(seen, rows) or "give the script's own words in --set, or --rows"


def what_next(seen, rows, preset):
    """What to do where the whole batch at once ended in an error."""
    flags = PRESETS[preset].flags if preset else ""
    if flags and seen["error"]["type"] == "SystemExit":
        return f"its arguments are not those of preset {preset} ({flags}); say them in its own words, --set '--batch-size {{rows}} --accum {{k}}'"
    return fewer_rows(seen, rows) or "run it alone first"
