"""A script of several ranks that knows nothing of the recorder: torchrun … train_ranks.py"""
import contextlib

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

dist.init_process_group("gloo")
torch.manual_seed(1)
model = nn.parallel.DistributedDataParallel(nn.Linear(6, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.125)
torch.manual_seed(7 + dist.get_rank())
for window in range(3):
    for k in range(2):
        with model.no_sync() if k == 0 else contextlib.nullcontext():
            loss = F.cross_entropy(model(torch.randn(3, 6)), torch.randint(0, 4, (3,)))
            (loss / 2).backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
