#!/usr/bin/env python3
"""The check that Tally replaces: a window's accumulated update in float32 against the full batch in float64.

usage: check_in_torch.py WIDTH ROWS [--repeats N] [--layers 3] [--micro-batches 4]

Linear layers WIDTH-WIDTH-WIDTH-10 with ReLU between them (16-32-8 for width 0), cross-entropy, four micro-batches, clip
by norm, SGD with momentum; gradients and parameters compared by torch.testing.assert_close. Prints as JSON the median
seconds of processor time, and the bytes by which the process grew. One thread. Exits 77 without PyTorch.
"""
import argparse
import json
import resource
import statistics
import sys
import time


def network(torch, options, dtype):
    sizes = [16, 32, 8] if options.width == 0 else [options.width] * options.layers + [10]
    layers = []
    for first, second in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(first, second), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1]).to(dtype)


def step(torch, model, x, target, parts):
    """One step; the gradients before clipping."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for rows, classes in zip(x.chunk(parts), target.chunk(parts)):
        loss = torch.nn.functional.cross_entropy(model(rows), classes, reduction="sum") / len(x)
        loss.backward()
    gradients = [p.grad.clone() for p in model.parameters()]
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return gradients


def check(torch, start, options, x, target):
    """Whether the update of the accumulated micro-batches is near enough to the full batch's."""
    runs = []
    for dtype, parts in ((torch.float32, options.micro_batches), (torch.float64, 1)):
        model = network(torch, options, dtype)
        model.load_state_dict(start)
        gradients = step(torch, model, x.to(dtype), target, parts)
        runs.append(gradients + [p.detach() for p in model.parameters()])
    for got, wanted in zip(*runs):
        torch.testing.assert_close(got, wanted.float())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("width", type=int)
    parser.add_argument("rows", type=int)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--micro-batches", type=int, default=4)
    options = parser.parse_args()
    try:
        import torch
    except ImportError as error:
        print(f"not run: {error}")
        return 77
    torch.set_num_threads(1)
    torch.manual_seed(1)
    before_all = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = network(torch, options, torch.float32).state_dict()
    inputs, classes = start["0.weight"].shape[1], list(start.values())[-1].shape[0]
    x, target = torch.randn(options.rows, inputs), torch.randint(classes, (options.rows,))
    seconds = []
    for _ in range(options.repeats + 1):
        before = time.process_time()
        check(torch, start, options, x, target)
        seconds.append(time.process_time() - before)
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_all)
    print(json.dumps({"seconds": statistics.median(seconds[1:]), "bytes": grown, "torch": torch.__version__}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
