"""Activations that Tally knows, one a file of this folder: what of PyTorch computes it, and how a case states it."""
import dataclasses
import importlib
import pkgutil

from ...user_code import CaptureError


@dataclasses.dataclass
class Activation:
    """`modules`, `functions` and `methods` of tensors compute it. Their arguments behind x, which modules have as
    attributes, are its `options`, by their standard values, and those `fixed` to the one value that a case states.
    `of_transformers` are modules of Transformers by their class's name, `configured` words of its configurations, each
    with the options that it means."""
    kind: str
    modules: tuple = ()
    functions: tuple = ()
    methods: tuple = ()
    options: dict = dataclasses.field(default_factory=dict)
    fixed: dict = dataclasses.field(default_factory=dict)
    of_transformers: dict = dataclasses.field(default_factory=dict)
    configured: dict = dataclasses.field(default_factory=dict)

    def layer(self, place, given):
        """A layer of a case, by the arguments that were given."""
        for name, value in self.fixed.items():
            if given.get(name, value) != value:
                raise CaptureError(f"{place}: found {self.kind} with {name} {given[name]}, expected {value}, as no case "
                                   "states another; record the model as opaque")
        return {"kind": self.kind, **{name: given.get(name, standard) for name, standard in self.options.items()}}

    def of_module(self, name, module):
        arguments = {word: getattr(module, word) for word in (*self.fixed, *self.options) if hasattr(module, word)}
        return self.layer(f"layer {name}", arguments)

    def of_call(self, node):
        """The layer of a node of torch.fx; None where it has other arguments."""
        names, behind = [*self.fixed, *self.options], node.args[1:]
        given = {**dict(zip(names, behind)), **node.kwargs}
        given.pop("inplace", None)
        if not node.args or len(behind) > len(names) or not given.keys() <= set(names):
            return None
        return self.layer(f"model, at {node.name}", given)


def stated(field):
    """Layers by the names in this field."""
    return {name: {"kind": each.kind, **options} for each in ACTIVATIONS for name, options in getattr(each, field).items()}


ACTIVATIONS = [importlib.import_module(f"{__name__}.{file.name}").ACTIVATION for file in pkgutil.iter_modules(__path__)]
OF_MODULE = {module: each for each in ACTIVATIONS for module in each.modules}
OF_FUNCTION = {function: each for each in ACTIVATIONS for function in each.functions}
OF_METHOD = {method: each for each in ACTIVATIONS for method in each.methods}
OF_TRANSFORMERS, CONFIGURED = stated("of_transformers"), stated("configured")
