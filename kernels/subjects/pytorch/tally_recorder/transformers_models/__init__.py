"""Language models of Transformers, a file a family: each names its classes and states their layers."""
import importlib
import pkgutil

from ..errors import CaptureError
from ..stated_layers import StatedLayers

VERSIONS = ("5.",)  # whose modules and attention interface these files describe


def family_of(model):
    """The file that states this model's layers; None where the model is none of Transformers'."""
    kinds = [kind for kind in type(base_of(model)).__mro__ if kind.__module__.startswith("transformers.models.")]
    if not kinds:
        return None
    families = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    for family in families:
        if any(kind.__name__ in family.CLASSES for kind in kinds):
            return family
    stated = ", ".join(sorted(name for family in families for name in family.CLASSES))
    raise CaptureError(f"model: found {kinds[0].__name__} of Transformers, expected one of {stated}; record it as opaque")


def base_of(model):
    """The model itself, without what PEFT puts around it."""
    return model.get_base_model() if type(model).__module__.startswith("peft.") else model


def layers_of(model, family, layer_of):
    """Raises where another version of Transformers has other modules, or an option of the model is stated by no
    layer."""
    import transformers
    if not transformers.__version__.startswith(VERSIONS):
        raise CaptureError(f"transformers: found version {transformers.__version__}, expected {VERSIONS[0]}x, whose "
                           "modules are known; record the model as opaque")
    stated = StatedLayers(model, layer_of)
    family.state(base_of(model), stated)
    return stated


def refuse(option, found, expected):
    raise CaptureError(f"model.config.{option}: found {found!r}, expected {expected}; record the model as opaque")


def without(config, **expected):
    """Refuses an option whose value is another than the one that these layers state."""
    for name, value in expected.items():
        found = getattr(config, name, value)
        if found != value:
            refuse(name, found, value)


def head_is_tied(model, config, table):
    """Refuses a head that is tied, or is not, where the configuration says otherwise."""
    found = model.lm_head.weight is table.weight
    if found != bool(config.tie_word_embeddings):
        refuse("tie_word_embeddings", config.tie_word_embeddings,
               f"{found}, as lm_head.weight {'is' if found else 'is not'} the embedding's")
