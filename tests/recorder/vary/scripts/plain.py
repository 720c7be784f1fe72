"""A loop as many write it; its options are bugs."""
import argparse
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=4)
parser.add_argument("--accum", type=int, default=1)
parser.add_argument("--loss", choices=("sum", "mean-of-means", "by-told-window", "by-own-mask"), default="sum")
parser.add_argument("--drop-last", action="store_true")
parser.add_argument("--ignored", action="store_true", help="some targets do not count")
parser.add_argument("--order", choices=("shuffled", "by-size"), default="shuffled")
parser.add_argument("--raise-at", type=int, help="a batch size that the loop does not take")
parser.add_argument("--only-float32", action="store_true")
parser.add_argument("--endless", action="store_true")
parser.add_argument("--size", type=int, default=24, help="rows of the data set")
parser.add_argument("--epoch", choices=("carries", "loses", "steps"), default="carries", help="what becomes of micro-batches at its end")
parser.add_argument("--schedule", choices=("window", "micro-batch"))
parser.add_argument("--average", choices=("window", "micro-batch"))
parser.add_argument("--average-by", choices=("copy", "module"), default="copy")
parser.add_argument("--keep-gradients", action="store_true", help="they are never cleared")
parser.add_argument("--rate-by-window", action="store_true", help="the rate follows the window that was told")
parser.add_argument("--step-by-rows", action="store_true", help="behind as many rows as were told")
parser.add_argument("--whole-windows", action="store_true", help="rows beyond windows as large as were told are left out")
parser.add_argument("--off-by-one", action="store_true", help="it steps behind a window's first micro-batch")
parser.add_argument("--same-batch", action="store_true", help="all micro-batches of a window are one batch")
parser.add_argument("--batch-norm", action="store_true")
options = parser.parse_args()
TOLD = options.batch_size * options.accum

torch.manual_seed(1)
targets = torch.randint(0, 4, (options.size,))
if options.ignored:
    targets[::3] = -100
rows = TensorDataset(torch.randn(options.size, 6), targets)
if options.whole_windows:
    rows = torch.utils.data.Subset(rows, range(options.size % TOLD, options.size))
order = torch.Generator().manual_seed(options.batch_size if options.order == "by-size" else 0)
batches = DataLoader(rows, batch_size=options.batch_size, shuffle=True, generator=order, drop_last=options.drop_last, num_workers=1)
model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8) if options.batch_norm else nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 4))
average = torch.optim.swa_utils.AveragedModel(model) if options.average_by == "module" else copy.deepcopy(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.0025 * TOLD if options.rate_by_window else 0.01)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, 100) if options.schedule else None


def averaged():
    if options.average_by == "module":
        return average.update_parameters(model)
    for kept, parameter in zip(average.parameters(), model.parameters()):
        kept.data.mul_(0.9).add_(parameter.data, alpha=0.1)


epoch = seen = 0
while options.endless or epoch < 2:
    epoch += 1
    if options.epoch == "loses":
        optimizer.zero_grad()
    for i, (x, y) in enumerate(batch for batch in batches for _ in range(options.accum if options.same_batch else 1)):
        if options.raise_at == len(x):
            raise ValueError(f"{len(x)} rows are none that this loop takes")
        if options.only_float32 and x.dtype != torch.float32:
            raise TypeError("a kernel without float64")
        seen += len(x)
        if options.loss == "by-told-window":
            loss = F.cross_entropy(model(x), y, reduction="sum") / TOLD
        elif options.loss == "by-own-mask":
            counts = 1 + (x[:, 0] > 0).to(x.dtype)
            loss = (F.cross_entropy(model(x), y, reduction="none") * counts).sum() / counts.sum() / options.accum
        elif options.loss == "sum":
            loss = F.cross_entropy(model(x), y, reduction="sum") / 4
        else:
            loss = F.cross_entropy(model(x), y) / options.accum
        loss.backward()
        steps = (i + (not options.off_by_one)) % options.accum == 0 or options.epoch == "steps" and i + 1 == len(batches)
        if options.step_by_rows:
            steps = seen >= TOLD
        if steps:
            seen = 0
            optimizer.step()
            if not options.keep_gradients:
                optimizer.zero_grad(set_to_none=True)
        if options.schedule == "micro-batch" or options.schedule == "window" and steps:
            schedule.step()
        if options.average == "micro-batch" or options.average == "window" and steps:
            averaged()
