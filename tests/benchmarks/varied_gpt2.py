"""A language model in the shapes of GPT-2 small, with two of its blocks, trained as scripts do; it knows nothing of Tally."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS, TOKENS, WORDS, WIDTH = 8, 64, 50257, 768

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=ROWS)
parser.add_argument("--accum", type=int, default=1)
parser.add_argument("--windows", type=int, default=2)
options = parser.parse_args()


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(1024, WIDTH)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(WIDTH, 12, 4 * WIDTH, 0.0, F.gelu, batch_first=True, norm_first=True)
                                    for _ in range(2))
        self.norm = nn.LayerNorm(WIDTH)
        for table in (self.words, self.places):
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, x):
        h = self.words(x) + self.places(torch.arange(x.shape[1]))
        mask = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1)
        for block in self.blocks:
            h = block(h, src_mask=mask)
        return F.linear(self.norm(h), self.words.weight)


torch.manual_seed(0)
model = Language()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
rows = torch.utils.data.TensorDataset(torch.randint(0, WORDS, (ROWS * (options.windows + 1), TOKENS)))
order = torch.Generator().manual_seed(1)
windows = 0
for i, (x,) in enumerate(torch.utils.data.DataLoader(rows, options.batch_size, shuffle=True, generator=order)):
    y = model(x)[:, :-1]
    (F.cross_entropy(y.reshape(-1, WORDS), x[:, 1:].reshape(-1), reduction="sum") / (ROWS * (TOKENS - 1))).backward()
    if (i + 1) % options.accum == 0:
        optimizer.step()
        optimizer.zero_grad()
        windows += 1
    if windows == options.windows:
        break
