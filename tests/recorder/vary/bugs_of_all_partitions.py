"""Bugs that are none of accumulation: the whole batch at once has them as well."""
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F
from accumulating import RIGHT, Bug, adam, each, right, rows_of


def used_up():
    """The parameters that a clip gets are an iterator, which the optimizer has used up."""
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))
    parameters = filter(lambda parameter: parameter.requires_grad, model.parameters())
    return {"model": model, "optimizer": adam(parameters), "clipped": parameters}


def two_networks():
    generator, critic = nn.Linear(4, 6), nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    return {"generator": generator, "critic": critic, "of_generator": adam(generator.parameters()), "of_critic": adam(critic.parameters())}


def leaking(state, batches):
    """The generator's loss leaves gradients in the critic, which steps on them as well."""
    for name in ("of_generator", "of_critic"):
        state[name].zero_grad()
    for batch in batches:
        made_up = state["generator"](batch["boxes"])
        (F.softplus(-state["critic"](made_up)).sum() / rows_of(batches)).backward()
        told = F.softplus(state["critic"](made_up.detach())) + F.softplus(-state["critic"](batch["x"]))
        (told.sum() / rows_of(batches)).backward()
    for name in ("of_generator", "of_critic"):
        state[name].step()


def listed_twice():
    model = nn.Linear(6, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"model": model, "optimizer": torch.optim.SGD([*model.parameters(), model.weight], lr=0.1)}


# Where each was seen: a repository with the number of an issue or a pull request.
BUGS = [
    Bug("PixArt#160: a clip over a used-up iterator", each(right, before=lambda state, batches: nn.utils.clip_grad_norm_(state["clipped"], 0.05)),
        None, make=used_up),
    Bug("OmniTokenizer#15: the generator's gradients in the critic", leaking, None, make=two_networks),
    Bug("pytorch#40967: a parameter that is listed twice", RIGHT, None, make=listed_twice),
]
