"""Gemma: Llama's layers, whose looked-up rows are scaled by the root of the width, norms by one plus their weight, gates
by GELU, a head tied to the table."""
import torch

from . import head_is_tied, refuse
from .llama import add_layer, rotary_base

CLASSES = ("GemmaForCausalLM",)
TURNS = True
GATES = {"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "silu": "silu"}


def state(model, stated):
    config, inner = model.config, model.model
    if config.hidden_act not in GATES:
        refuse("hidden_act", config.hidden_act, " or ".join(sorted(GATES)))
    base = rotary_base(config)
    y = stated.scaled_table(inner.embed_tokens, factor_of(config, inner.embed_tokens.weight))
    head_is_tied(model, config, inner.embed_tokens)
    for layer in inner.layers:
        y = add_layer(stated, config, layer, y, base, activation=GATES[config.hidden_act])
    stated.of_module(model.lm_head, stated.of_module(inner.norm, y, eps=config.rms_norm_eps))


def factor_of(config, weight):
    """The root of the width, rounded as the table's numbers are."""
    return torch.tensor(config.hidden_size ** 0.5).to(weight.dtype).item()
