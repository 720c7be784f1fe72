"""A small language model, trained as nanoGPT does: batches are drawn, one ahead, in a loop without an end."""
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 12
gradient_accumulation_steps = 1
block_size = 8
eval_iters = 3
dropout = 0.1
compile = True
dtype = "bfloat16"
divide = True
exec(open(os.path.join(os.path.dirname(__file__), "configurator.py")).read())

torch.manual_seed(1337)
data = {split: torch.randint(0, 16, (400,)) for split in ("train", "val")}


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.attention, self.out = nn.LayerNorm(16), nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False)

    def forward(self, x):
        q, k, v = self.attention(self.norm(x)).split(16, dim=2)
        seen = torch.tril(torch.ones(x.size(1), x.size(1)))
        weights = (q @ k.transpose(-2, -1) / 4).masked_fill(seen == 0, float("-inf")).softmax(-1)
        return x + self.out(F.dropout(weights, dropout, self.training) @ v)


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places, self.block = nn.Embedding(16, 16), nn.Embedding(block_size, 16), Block()
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 16, bias=False)
        self.tokens.weight = self.head.weight

    def forward(self, idx, targets):
        x = self.tokens(idx) + self.places(torch.arange(idx.size(1)))
        logits = self.head(self.norm(self.block(x)))
        return logits, F.cross_entropy(logits.view(-1, 16), targets.view(-1), ignore_index=-1)


def get_batch(split):
    first = torch.randint(len(data[split]) - block_size, (batch_size,))
    return tuple(torch.stack([data[split][i + ahead:i + ahead + block_size] for i in first]) for ahead in (0, 1))


@torch.no_grad()
def estimate_loss():
    model.eval()
    losses = {split: torch.tensor([model(*get_batch(split))[1].item() for _ in range(eval_iters)]).mean() for split in data}
    model.train()
    return losses


model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1)
if compile:
    model = torch.compile(model)
context = torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == "bfloat16")
X, Y = get_batch("train")
iteration = 0
while True:
    if iteration % 100 == 0:
        print(estimate_loss())
    for _ in range(gradient_accumulation_steps):
        with context:
            logits, loss = model(X, Y)
            loss = loss / gradient_accumulation_steps if divide else loss
        X, Y = get_batch("train")
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    iteration += 1
