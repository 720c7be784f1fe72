"""A script as torchrun starts it, right or wrong in one way: it knows nothing of Tally."""
import argparse
import os

import torch
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, required=True)
parser.add_argument("--accum", type=int, required=True)
parser.add_argument("--kind", default="right")
options = parser.parse_args()

torch.distributed.init_process_group("nccl")
rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.manual_seed(1)
counted = torch.arange(5).repeat(64, 1) < torch.randint(1, 6, (64, 1))
rows = TensorDataset(torch.randn(64, 5, 6), torch.randint(4, (64, 5)).masked_fill(~counted, -100))
torch.manual_seed(2 + (rank if options.kind in ("seeded by rank", "begins apart") else 0))
model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
wrapped = model if options.kind in ("not wrapped", "added up", "own rows added up", "begins apart", "clips its own") else DistributedDataParallel(model)
called = model if options.kind == "calls the inner" else wrapped
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2 * (1 + rank if options.kind == "own rate" else 1))
sampler = None if options.kind == "same rows" else DistributedSampler(rows, ranks, rank, shuffle=True, seed=3)
loader = DataLoader(rows, batch_size=options.batch_size, sampler=sampler)


def items_of(window):
    """That count in the loss, on all ranks or on this one."""
    if options.kind == "own rows added up":
        return torch.tensor(sum(len(y) for _, y in window))
    count = sum((y != -100).sum() for _, y in window)
    if options.kind != "own items":
        torch.distributed.all_reduce(count)
    return count


def backward(x, y, count):
    loss = F.cross_entropy(called(x).flatten(0, 1), y.flatten(), reduction="sum") / count
    factor = ranks if options.kind in ("right", "no sync", "seeded by rank", "one drifts", "waits at its end", "own rate") else 1
    (loss * factor).backward()


batches = iter(loader)
for _ in range(2):
    window = [next(batches) for _ in range(options.accum)]
    count = items_of(window)
    for k, (x, y) in enumerate(window):
        if options.kind == "no sync" and k + 1 < len(window):
            with wrapped.no_sync():
                backward(x, y, count)
        else:
            backward(x, y, count)
    if options.kind == "one ends" and rank == 1:
        raise RuntimeError("rank 1 has had enough")
    if options.kind == "clips its own":
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)
    if options.kind in ("added up", "own rows added up", "begins apart", "clips its own"):
        for parameter in model.parameters():
            torch.distributed.all_reduce(parameter.grad)
    optimizer.step()
    optimizer.zero_grad()
if options.kind == "one drifts" and rank == 1:
    with torch.no_grad():
        model[0].bias.mul_(2)
if options.kind == "waits at its end":
    if rank == 0:
        model(torch.randn(2, 5, 6))
    torch.distributed.barrier()
torch.distributed.destroy_process_group()
