#!/usr/bin/env python3
"""A window's end in PyTorch: unscale and check, clip by the global norm, AdamW; prints the seconds of a step as JSON.

usage: window_in_torch.py SIZES [--device cuda|cpu] [--steps N] [--repeats N]

SIZES holds the elements of each tensor, one a line (`device_benchmarks --print_sizes`); - reads them from stdin. A row
is a kind of AdamW, called as a training loop calls it, or replayed as a CUDA graph, which leaves out what the
interpreter costs. What GradScaler adds, waiting for the flag on the host, is left out of all. Exits 77, with the
reason, without PyTorch or the device.
"""
import argparse
import inspect
import json
import statistics
import sys
import time

NOT_RUN = 77
ROWS = (("foreach", False), ("fused", False), ("foreach", True), ("fused", True))


def unscale_by_torch(torch, gradients, found, inverse_scale):
    torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, inverse_scale)


def unscale_in_parts(torch, gradients, found, inverse_scale):
    """Where PyTorch has its own for CUDA alone: the same on the CPU, to run this file's logic."""
    finite = torch.stack([torch.isfinite(gradient).all() for gradient in gradients]).all()
    found.copy_((~finite).float())
    torch._foreach_mul_(gradients, inverse_scale.item())


def unscale_for(torch, device):
    """PyTorch's own, and its name; on the CPU a stand-in where PyTorch's own refuses."""
    one = [torch.ones(1, device=device) for _ in range(3)]
    try:
        unscale_by_torch(torch, one[:1], one[1], one[2])
        return unscale_by_torch, "_amp_foreach_non_finite_check_and_unscale_"
    except (RuntimeError, NotImplementedError, AttributeError):
        if device != "cpu":
            raise
        return unscale_in_parts, "a stand-in: PyTorch's own is for CUDA"


def name_of_unscale(torch, device):
    try:
        return unscale_for(torch, device)[1]
    except (RuntimeError, NotImplementedError, AttributeError) as error:
        return f"nothing: {first_line(error)}"


def first_line(error):
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def step_of(torch, sizes, device, kind, graph):
    """What one step does, on tensors of its own. The inverse scale is 1, so that any number of steps stays in range."""
    parameters = [torch.nn.Parameter(torch.rand(size, device=device) + 0.5) for size in sizes]
    for parameter in parameters:
        parameter.grad = torch.rand_like(parameter) + 0.5
    gradients = [parameter.grad for parameter in parameters]
    found, inverse_scale = torch.zeros(1, device=device), torch.ones(1, device=device)
    options = {"fused": True} if kind == "fused" else {"foreach": True}
    if graph:
        options["capturable"] = True
    adam = torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.01, **options)
    clip = torch.nn.utils.clip_grad_norm_
    by_foreach = {"foreach": True} if "foreach" in inspect.signature(clip).parameters else {}
    unscale, _ = unscale_for(torch, device)

    def step():
        unscale(torch, gradients, found, inverse_scale)
        clip(parameters, 1.0, **by_foreach)
        adam.step()

    return step


def captured(torch, step):
    """The step as a CUDA graph, after steps that allocate what it needs."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()

    def replay(_kept=step):  # whose tensors the graph works on
        graph.replay()

    return replay


def seconds_on_cuda(torch, step, steps):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(steps):
        step()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / 1000 / steps


def seconds_on_cpu(_, step, steps):
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    return (time.perf_counter() - begin) / steps


def row(torch, sizes, options, kind, graph):
    """A row with its seconds, or with the reason why there are none."""
    result = {"kind": kind, "graph": graph}
    try:
        if graph and options.device == "cpu":
            raise RuntimeError("a CUDA graph needs CUDA")
        step = step_of(torch, sizes, options.device, kind, graph)
        if graph:
            step = captured(torch, step)
        seconds = seconds_on_cpu if options.device == "cpu" else seconds_on_cuda
        seconds(torch, step, 3)
        result["seconds"] = statistics.median(seconds(torch, step, options.steps) for _ in range(options.repeats))
    except (RuntimeError, NotImplementedError, AttributeError, TypeError, ValueError) as error:
        result["reason"] = first_line(error)
    return result


def not_run(reason):
    print(f"not run: {reason}")
    return NOT_RUN


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("sizes", type=argparse.FileType())
    reader.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    reader.add_argument("--steps", type=int, default=20)
    reader.add_argument("--repeats", type=int, default=5)
    options = reader.parse_args()
    sizes = [int(line) for line in options.sizes]
    try:
        import torch
    except ImportError as error:
        return not_run(f"no PyTorch ({error})")
    if options.device == "cuda" and not torch.cuda.is_available():
        return not_run("PyTorch sees no CUDA device")
    json.dump({
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "device": torch.cuda.get_device_name() if options.device == "cuda" else "cpu",
        "parameters": sum(sizes),
        "tensors": len(sizes),
        "unscale": name_of_unscale(torch, options.device),
        "rows": [row(torch, sizes, options, kind, graph) for kind, graph in ROWS],
    }, sys.stdout, indent=2)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
