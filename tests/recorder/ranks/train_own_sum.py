"""A script of several ranks that adds up by calls of its own, and knows nothing of the recorder: torchrun …
train_own_sum.py"""
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

dist.init_process_group("gloo")
torch.manual_seed(1)
model = nn.Linear(6, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.125)
torch.manual_seed(7 + dist.get_rank())
for window in range(3):
    for k in range(2):
        (F.cross_entropy(model(torch.randn(3, 6)), torch.randint(0, 4, (3,))) / 2).backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
