"""How the frameworks are told the rows and the number of micro-batches, where a script does not say it otherwise."""
import ast
import contextlib
import importlib
import json
import os

LIGHTNING = ("lightning.pytorch", "pytorch_lightning")


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
    """Once for all runs; a device that is seen at import cannot be used behind a fork."""
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
OF_TRAINER = {"Trainer", "Seq2SeqTrainer", "TrainingArguments", "Seq2SeqTrainingArguments"}


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
