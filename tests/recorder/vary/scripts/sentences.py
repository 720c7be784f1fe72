"""A language model on sentences of several lengths, padded to the longest of their batch, whose loss is the mean over the window's
tokens. Its options are ways to get at the rows."""
import argparse
import collections

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=4)
parser.add_argument("--accum", type=int, default=1)
parser.add_argument("--batch", choices=("tensor", "tuple", "dict", "encoding", "numbers", "indices", "words"), default="tensor")
parser.add_argument("--padding", type=int, default=0)
parser.add_argument("--ahead", action="store_true", help="a batch is fetched while the one before it is trained on")
parser.add_argument("--looks", action="store_true", help="it evaluates, and looks at the first batch, before it trains")
parser.add_argument("--chunks", action="store_true", help="the loader deals windows, which the loop cuts")
parser.add_argument("--loses", action="store_true", help="the first row of each micro-batch but the whole is left out")
parser.add_argument("--mean-of-means", action="store_true")
options = parser.parse_args()

torch.manual_seed(1)
PADDING, WINDOW = options.padding, options.batch_size * options.accum
sentences = [torch.randint(1, 9, (length,)) + (PADDING > 0) for length in torch.randint(3, 9, (48,)).tolist()]


class Encoding(collections.UserDict):
    """As a tokenizer gives it: no dict, and its values are attributes."""

    def __getattr__(self, name):
        return self.data[name]


def padded(rows):
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PADDING)


COLLATE = {"tensor": padded, "tuple": lambda rows: (padded(rows), [len(row) for row in rows]), "dict": lambda rows: {"ids": padded(rows)},
           "encoding": lambda rows: Encoding(ids=padded(rows)), "numbers": lambda rows: padded(rows).numpy(),
           "indices": torch.tensor, "words": lambda rows: [" ".join(map(str, row.tolist())) for row in rows]}


def ids_of(batch):
    if options.batch == "tuple":
        return batch[0]
    if options.batch == "dict":
        return batch["ids"]
    if options.batch == "encoding":
        return batch.ids
    if options.batch == "numbers":
        return torch.from_numpy(batch)
    if options.batch == "indices":
        return padded([sentences[i] for i in batch.tolist()])
    if options.batch == "words":
        return padded([torch.tensor([int(word) for word in text.split()]) for text in batch])
    return batch


def loader_of(seed, size):
    data = list(range(len(sentences))) if options.batch == "indices" else sentences
    return DataLoader(data, batch_size=size, shuffle=True, generator=torch.Generator().manual_seed(seed), collate_fn=COLLATE[options.batch])


def ahead(batches):
    batches = iter(batches)
    held = next(batches)
    for batch in batches:
        yield held
        held = batch
    yield held


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.cell, self.out = nn.Embedding(10, 8, padding_idx=PADDING), nn.GRU(8, 8, batch_first=True), nn.Linear(8, 10)

    def forward(self, ids):
        return self.out(self.cell(self.tokens(ids))[0])


def loss_of(ids, reduction="sum"):
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PADDING, reduction=reduction)


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
batches = loader_of(3, WINDOW if options.chunks else options.batch_size)
if options.looks:
    print(model(ids_of(next(iter(loader_of(4, options.batch_size))))[:, :-1]).shape)
    with torch.no_grad():
        print(sum(loss_of(ids_of(batch)) for batch in loader_of(5, options.batch_size)))
window, rows = [], 0
for batch in ahead(batches) if options.ahead else batches:
    ids = ids_of(batch)
    rows += len(ids)
    window += ids.split(options.batch_size) if options.chunks else [ids]
    if rows < WINDOW and rows < 4:
        continue
    count = sum(int(ids[:, 1:].ne(PADDING).sum()) for ids in window)
    for ids in window:
        ids = ids[1:] if options.loses and len(window) > 1 else ids
        (loss_of(ids, "mean") / len(window) if options.mean_of_means else loss_of(ids) / count).backward()
    optimizer.step()
    optimizer.zero_grad()
    window, rows = [], 0
