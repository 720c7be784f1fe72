"""Tensors of a script's modules by name: of what is trained, and of what stands beside it, such as a copy that is only saved."""
import gc

import torch

WRAPPERS = ("module.", "_orig_mod.")  # what those call their own that hold one model


def roots():
    """All modules with tensors that stand in no other, in the order in which they were made."""
    gc.collect()
    modules = [each for each in gc.get_objects() if issubclass(type(each), torch.nn.Module)]
    inner = {id(child) for module in modules for child in (module.__dict__.get("_modules") or {}).values()}
    return [module for module in modules if id(module) not in inner and "_parameters" in module.__dict__ and tensors_of(module)]


def tensors_of(module):
    """(name, tensor), but for those that are made later."""
    return [each for each in (*module.named_parameters(), *module.named_buffers()) if not torch.nn.parameter.is_lazy(each[1])]


def held_by(optimizers):
    return [parameter for optimizer in optimizers for group in optimizer.param_groups for parameter in group["params"]]


def place_in(module, trained):
    """That of the first parameter which is trained; behind all of them where none is."""
    return min((trained.get(id(parameter), len(trained)) for parameter in module.parameters()), default=len(trained))


def named_of(optimizers):
    """(parameters and buffers of all that is trained, those of other modules), by name."""
    held = held_by(optimizers)
    trained = {id(parameter): i for i, parameter in enumerate(held)}
    ordered = sorted(((place_in(root, trained), root) for root in roots()), key=lambda each: each[0])
    own = [root for place, root in ordered if place < len(trained)]
    kinds = [type(root).__name__ for _, root in ordered]
    found, beside = {}, {}
    for i, (_, root) in enumerate(ordered):
        before = f"{kinds[i]}{kinds[:i].count(kinds[i]) or ''}." if len(own) != 1 or i else ""
        for name, tensor in tensors_of(root):
            while name.startswith(WRAPPERS):
                name = name.partition(".")[2]
            (found if i < len(own) else beside).setdefault(before + name, tensor)
    named = {id(tensor) for tensor in found.values()}
    for i, parameter in enumerate(held):
        if id(parameter) not in named:
            found[f"parameter {i} of the optimizer"] = parameter
    named |= set(map(id, held))
    return found, {name: tensor for name, tensor in beside.items() if id(tensor) not in named}


def sums_of(tensors):
    """Of each two numbers, others where it is another tensor."""
    with torch.no_grad():
        return {name: (float(tensor.double().sum()), float(tensor.double().norm())) for name, tensor in tensors.items()
                if tensor.is_floating_point()}
