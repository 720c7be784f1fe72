"""Language models in training with dropout: as shipped, and each with a bug in what is dropped."""
import torch
import torch.nn.functional as F
from transformers import AttentionInterface, AttentionMaskInterface, GPT2Config
from transformers.masking_utils import eager_mask

import language_models as models

AS_SHIPPED = {name: getattr(GPT2Config(), name) for name in ("embd_pdrop", "resid_pdrop", "attn_pdrop")}


def gpt2(**options):
    return models.gpt2(**{**AS_SHIPPED, **options})


def padded_on_the_left():
    """With positions that count from each line's first token."""
    return [{**batch, "position_ids": (batch["attention_mask"].cumsum(1) - 1).clamp(min=0)}
            for batch in models.padded("left")]


def checkpointed(model, **options):
    model.gradient_checkpointing_enable(options)
    return model


def of_second_block(model):
    return model.transformer.h[1].mlp.dropout


def forgets_the_factor(module):
    module.forward = lambda x: F.dropout(x, module.p, module.training) * (1 - module.p)


def drops_what_is_above_0(module):
    module.forward = lambda x: torch.where(x > 0, F.dropout(x, module.p, module.training), x)


def attends(weights):
    """The attention of a model, computed in the open: `weights(scores, mask, p)` are what values are multiplied by."""
    def attention(module, query, key, value, mask, scaling=None, dropout=0.0, **_):
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        scores = query @ key.transpose(2, 3) * scaling
        mask = torch.zeros(()) if mask is None else mask
        return (weights(scores, mask, dropout) @ value).transpose(1, 2).contiguous(), None

    name = f"by_{weights.__name__}"
    AttentionInterface.register(name, attention)
    AttentionMaskInterface.register(name, eager_mask)
    return name


def as_it_should(scores, mask, p):
    return F.dropout((scores + mask).softmax(-1), p)


def dropped_scores(scores, mask, p):
    return (F.dropout(scores, p) + mask).softmax(-1)


def nothing_dropped(scores, mask, _):
    return (scores + mask).softmax(-1)


def without_the_factor(scores, mask, p):
    return as_it_should(scores, mask, p) * (1 - p)


def drawn_elsewhere(scores, mask, p, generator=torch.Generator().manual_seed(3)):
    """By a generator that is none of PyTorch's own."""
    return (scores + mask).softmax(-1) * torch.empty_like(scores).bernoulli_(1 - p, generator=generator) / (1 - p)


def more_each_time(scores, mask, p, calls=[]):  # noqa: B006
    """Draws what nobody needs, more of it with every call."""
    calls.append(torch.rand(1 + 1000 * len(calls)).sum())
    return as_it_should(scores, mask, p)
