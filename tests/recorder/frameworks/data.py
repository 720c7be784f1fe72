"""The rows that all loops train on, cut into micro-batches of four, K = 4."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

K, ROWS = 4, 4
WHOLE, SHORT_BATCH, SHORT_WINDOW = 32, 30, 24  # two windows; a last micro-batch of two rows; a last window of two


def net():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))


def rows_of(count):
    generator = torch.Generator().manual_seed(2)
    return TensorDataset(torch.randn(count, 6, generator=generator),
                         torch.randint(0, 4, (count,), generator=generator))


def loader(count):
    return DataLoader(rows_of(count), batch_size=ROWS)


def windows_of(count):
    """How many micro-batches each window has as it is meant: the last takes what is left."""
    micro_batches = -(-count // ROWS)
    return [min(K, micro_batches - first) for first in range(0, micro_batches, K)]


def optimizer(model, **options):
    return torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1, **options)


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.125, momentum=0.9)


VOCABULARY = 16


def sentences(count):
    """Token numbers and labels of `count` sentences of unequal length; what is padded is ignored."""
    generator = torch.Generator().manual_seed(3)
    found = []
    for i in range(count):
        length = 4 + (5 * i) % 9
        tokens = torch.randint(1, VOCABULARY, (12,), generator=generator)
        labels = tokens.clone()
        labels[length:] = -100
        found.append({"input_ids": tokens, "labels": labels})
    return found


def llama(kind=None):
    """A language model of Transformers, built from a configuration: nothing is fetched."""
    from transformers import LlamaConfig, LlamaForCausalLM
    torch.manual_seed(1)
    return (kind or LlamaForCausalLM)(LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=32))
