"""python -m tally_recorder probe: what this machine's kernels claim, found by sweeping each operation densely and asking
`tally check-operations` which claims it takes until no element lies outside of its bound."""
import argparse
import json
import os
import sys
import tempfile

import torch
import torch.nn.functional as F

from .. import verdict
from ..user_code import CaptureError
from .recording import Operations, header

HALVES = (torch.float16, torch.bfloat16)
FLOATS = (torch.float32, *HALVES)
ULPS = (1, 2, 3, 4, 8)
POWERS = tuple(2.0**-k for k in range(24, 6, -1))
YES = (1,)
# What an operation may claim, in the order in which it is tried, from what says least on.
FUNCTIONS = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "erf", "tanh", "sin", "cos", "sqrt")
CLAIMS = {
    **{name: [("ulps", ULPS), ("absolute", POWERS)] for name in FUNCTIONS}, "sqrt": [("ulps", (0.5, 1))],
    "pow": [("rounds_between", YES), ("ulps", ULPS)],
    "gelu": [("flushes_subnormals", YES), ("erf_absolute", POWERS), ("rounds_between", YES)],
    "gelu_backward": [("erf_absolute", POWERS), ("rounds_between", YES)],
    **{name: [("scalar_in_storage", YES), ("rounds_between", YES)] for name in ("add", "sub", "rsub")},
    "mul": [("scalar_in_storage", YES)], "div": [("scalar_in_storage", YES), ("by_reciprocal", YES)],
    **{name: [("rounds_between", YES)] for name in (
        "rsqrt", "sigmoid_backward", "mse_loss", "mse_loss_backward", "tanh_backward", "silu_backward", "addcmul", "addcdiv", "lerp",
        "softplus", "softplus_backward", "hardswish", "hardsigmoid", "hardswish_backward", "hardsigmoid_backward", "reciprocal", "sigmoid",
        "silu")},
    "_softmax": [("rounds_between", YES), ("exp_relative", POWERS)],
    "_log_softmax": [("rounds_between", YES), ("exp_relative", POWERS)],
    "_softmax_backward_data": [("rounds_between", YES)],
    "_log_softmax_backward_data": [("exp_relative", POWERS)],
    "nll_loss": [("adds_in_storage", YES)],
    **{name: [("adds_in_storage", YES), ("rounds_between", YES)] for name in ("native_layer_norm_backward", "native_group_norm_backward")},
    **{name: [("statistics_in_storage", YES)] for name in ("native_layer_norm", "native_group_norm", "native_batch_norm")},
    "native_batch_norm_backward": [("adds_in_storage", YES)],
    "convolution": [("adds_in_storage", YES)], "convolution_backward": [("adds_in_storage", YES)],
    "sum": [("adds_in_storage", YES)], "mean": [("adds_in_storage", YES)],
    "mm": [("adds_in_storage", YES)], "addmm": [("adds_in_storage", YES)], "bmm": [("adds_in_storage", YES)],
    "_adaptive_avg_pool2d_backward": [("adds_in_storage", YES)], "avg_pool2d_backward": [("adds_in_storage", YES)],
    "_scaled_dot_product_flash_attention_for_cpu": [("exp_relative", POWERS)],
    "_scaled_dot_product_flash_attention_for_cpu_backward": [("adds_in_storage", YES), ("exp_relative", POWERS)],
}
ASKED_AS = {"nll_loss_forward": "nll_loss"}  # operations whose claims have another's name
ALWAYS = FUNCTIONS  # found as small as they are, though the standard profile holds


def every_number(dtype, count):
    """Numbers of all binades, of both signs; and as many between -12 and 12."""
    bits = {torch.float32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16}[dtype]
    most = {torch.float32: 2**31 - 1, torch.float16: 2**15 - 1, torch.bfloat16: 2**15 - 1}[dtype]
    wide = torch.linspace(-float(most), float(most), count, dtype=torch.float64).to(bits).view(dtype)
    wide = wide[wide.isfinite()]
    return torch.cat([wide, torch.linspace(-12, 12, count, dtype=torch.float64).to(dtype)])[:-3]  # off the width of vectors


def with_gradients(function, *inputs):
    inputs = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    out = function(*inputs)
    out.backward(torch.randn(out.shape).to(out.dtype))


def unary(function):
    def run(dtype, count):
        x = every_number(dtype, count)
        function(x)
        function(x[::2])
        for length in range(1, 36):  # what vectors leave over
            function(x[-length:].clone())
    return run


def activation(function):
    def run(dtype, count):
        x = every_number(dtype, count)
        with_gradients(function, x[x.abs() < 2.0**12])
        for length in range(1, 36):
            with_gradients(function, rows(dtype, length, scale=3.0))
    return run


def rows(dtype, *shape, scale=1.0):
    return (torch.randn(shape) * scale).to(dtype)


def scalars(dtype, count):
    for x in (every_number(dtype, count), *(rows(dtype, length) for length in range(1, 40) for _ in range(4))):
        scaled(x)


def scaled(x):
    for number in (1e-8, 0.1, 3.3, 1 / 3, 2.8284271247461903):
        x + number, x - number, number - x, x * number, x / number, x.add(x.flip(0), alpha=number)


def updates(dtype, count):
    for length in (count, *range(1, 40)):
        updated(*(rows(dtype, length) for _ in range(3)))


def updated(x, y, z):
    x.addcmul(y, z, value=0.1), x.addcdiv(y, z.abs() + 1, value=-0.1), x.lerp(y, 0.1), x.lerp(y, 0.9), x.reciprocal(), x / y, x * y


def powers(dtype, count):
    x = every_number(dtype, count).abs()
    for p in (2, 3, 0.5, -1, -0.5, 2.7):
        x.pow(p)


def losses(dtype, count):
    for n in (4, 24, 48, 64, 96, 128, 200, 255):
        labels = torch.randint(0, 101, (n,))
        for scale in (0.1, 1.0, 3.0):
            for reduction in ("mean", "sum", "none"):
                with_gradients(lambda x, r=reduction: F.cross_entropy(x, labels, reduction=r), rows(dtype, n, 101, scale=scale))
        for width in (1, 2, 65):
            with_gradients(F.mse_loss, rows(dtype, n, width), rows(dtype, n, width))


def softmaxes(dtype, count):
    for shape in ((61, 127), (16, 16), (3, 1000), (200, 5)):
        for dim in (0, 1):
            for scale in (0.1, 1.0, 20.0):
                with_gradients(lambda x, d=dim: x.softmax(d), rows(dtype, *shape, scale=scale))
                with_gradients(lambda x, d=dim: x.log_softmax(d), rows(dtype, *shape, scale=scale))


def norms(dtype, count):
    w, b = rows(dtype, 96), rows(dtype, 96)
    for shift in (0.0, 0.1, 8.0):
        with_gradients(lambda x: F.layer_norm(x, (96,), w.requires_grad_(), b.requires_grad_()), rows(dtype, 130, 96) + shift)
        for n, width in ((4, 16), (7, 33)):
            with_gradients(lambda x, n=width: F.layer_norm(x, (n,)), rows(dtype, n, width) + shift)
            with_gradients(lambda x: F.group_norm(x, 2), rows(dtype, n, 8, 4, 4) + shift)
        with_gradients(lambda x: F.group_norm(x, 4, w.requires_grad_(), b.requires_grad_()), rows(dtype, 3, 96, 7) + shift)
        mean, var = torch.zeros(96, dtype=dtype), torch.ones(96, dtype=dtype)
        with_gradients(lambda x: F.batch_norm(x, mean, var, w, b, True), rows(dtype, 5, 96, 6, 6) + shift)


def products(dtype, count):
    for m, n, k in ((65, 33, 200), (3, 5, 7), (6, 19, 8), (24, 8, 8), (7, 7, 33)):
        with_gradients(torch.mm, rows(dtype, m, k), rows(dtype, k, n))
        with_gradients(torch.bmm, rows(dtype, 3, m, k), rows(dtype, 3, k, n))
        with_gradients(F.linear, rows(dtype, m, k), rows(dtype, n, k), rows(dtype, n))
    rows(dtype, 65, 900).sum(), rows(dtype, 65, 900).sum(0), rows(dtype, 65, 900).mean(1)


def convolutions(dtype, count):
    for stride, padding, groups in ((1, 1, 1), (2, 0, 1), (1, 1, 8)):
        with_gradients(lambda x, w, b, s=stride, p=padding, g=groups: F.conv2d(x, w, b, s, p, groups=g), rows(dtype, 3, 8, 17, 17),
                       rows(dtype, 16, 8 // groups, 3, 3), rows(dtype, 16))
    with_gradients(lambda x: F.adaptive_avg_pool2d(x, 3), rows(dtype, 2, 4, 16, 16))
    with_gradients(lambda x: F.avg_pool2d(x, 3, 1), rows(dtype, 2, 4, 16, 16))
    with_gradients(lambda x: F.max_pool2d(x, 3, 1), rows(dtype, 2, 4, 16, 16))


def attention(dtype, count):
    for causal in (False, True):
        for scale in (0.1, 1.0, 3.0):
            for length, width in ((5, 8), (16, 8), (64, 16), (70, 16), (600, 8)):
                with_gradients(lambda q, k, v, c=causal: F.scaled_dot_product_attention(q, k, v, is_causal=c),
                               *(rows(dtype, 2, 4, length, width, scale=scale) for _ in range(3)))


PROBES = {**{name: unary(getattr(torch, name)) for name in FUNCTIONS},
          "rsqrt": unary(torch.rsqrt), "gelu": activation(F.gelu), "gelu by tanh": activation(lambda x: F.gelu(x, approximate="tanh")),
          "silu": activation(F.silu), "sigmoid": activation(torch.sigmoid), "tanh of gradients": activation(torch.tanh),
          "softplus": activation(F.softplus), "hardswish": activation(F.hardswish), "hardsigmoid": activation(F.hardsigmoid),
          "scalars": scalars, "updates": updates, "powers": powers, "losses": losses, "softmaxes": softmaxes, "norms": norms,
          "products": products, "convolutions": convolutions, "attention": attention}


class Probe:
    """One recording, and what it takes to judge it."""

    def __init__(self, program, folder, known):
        self.program, self.folder, self.known, self.claims = program, folder, known, {}

    def judged(self, claims):
        path = os.path.join(self.folder, "profile.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"claims": {**self.known, **claims}}, file)
        done = verdict.run(self.program, "check-operations", self.folder, "--json", "--profile", path)
        if done.returncode not in (0, 1, 4):
            raise CaptureError(f"probe: {done.stderr.strip()}")
        return json.loads(done.stdout)["by_operation"]

    def search(self, say):
        """Claims by name with value and evidence."""
        format_name = os.path.basename(self.folder).rpartition(".")[2]
        plain = self.judged({})
        for name, counts in sorted(plain.items()):
            asked = ASKED_AS.get(name, name)
            if asked not in CLAIMS or (not counts["failed"] and asked not in ALWAYS) or not counts["elements"]:
                continue
            before, found = counts, {}
            for claim, values in CLAIMS[asked]:
                key = f"{asked}/{format_name}/{claim}"
                for value in values:
                    now = self.judged({**self.claims_of(found), key: value})[name]
                    if not now["failed"]:
                        break
                else:
                    value, now = values[-1], self.judged({**self.claims_of(found), key: values[-1]})[name]
                found[key] = {"value": value, "evidence": f"{now['elements']} elements: r = {float(now['worst_ratio']):.3g} with it"
                              f", {float(before['worst_ratio']):.3g} without"}
                if not now["failed"]:
                    break
            if now["failed"]:
                say(f"  {name}, {format_name}: no claim explains r = {float(before['worst_ratio']):.3g}")
            else:
                for key in list(found)[:-1]:  # what was tried before, where it is not needed
                    without = {other: said for other, said in found.items() if other != key}
                    if not self.judged(self.claims_of(without))[name]["failed"]:
                        found = without
                self.claims.update(found)
                for key, said in found.items():
                    say(f"  {key} = {said['value']:.6g}: {said['evidence']}")
        return self.claims

    @staticmethod
    def claims_of(found):
        return {key: said["value"] for key, said in found.items()}


def parsed(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m tally_recorder probe", description="Sweeps each operation densely on this machine, and prints the profile that its "
        "kernels need: what they claim beside one rounding.")
    parser.add_argument("--out", metavar="FILE", help="write the profile there (printed where there is none)")
    parser.add_argument("--points", type=int, default=1 << 18, help="numbers of a sweep (262144)")
    parser.add_argument("--only", action="append", choices=sorted(PROBES), help="sweep this alone; may be given several times")
    parser.add_argument("--tally", help="the program (the variable TALLY, the wheel's, or the PATH's)")
    return parser.parse_args(arguments)


def probe(arguments):
    options = parsed(arguments)
    known = header(1.0, 0)
    profile = {"name": known["profile"], "torch": torch.__version__, "threads": known["threads"], "points": options.points, "claims": {}}
    try:
        program = verdict.command(options.tally)
        with tempfile.TemporaryDirectory() as scratch:
            for name, sweep in PROBES.items():
                for dtype in FLOATS:
                    if options.only and name not in options.only:
                        continue
                    folder = os.path.join(scratch, f"{name}.{str(dtype).removeprefix('torch.')}")
                    print(f"{name}, {str(dtype).removeprefix('torch.')}", file=sys.stderr, flush=True)
                    torch.manual_seed(0)
                    try:
                        with Operations(folder):
                            sweep(dtype, options.points)
                    except (AttributeError, RuntimeError) as problem:  # an operation that this build does not have in the format
                        print(f"  not run: {str(problem).splitlines()[0][:100]}", file=sys.stderr)
                        continue
                    profile["claims"].update(Probe(program, folder, profile["claims"]).search(lambda line: print(line, file=sys.stderr, flush=True)))
        text = json.dumps(profile, indent=1, sort_keys=False) + "\n"
        if options.out is None:
            print(text, end="")
        else:
            with open(options.out, "w", encoding="utf-8") as file:
                file.write(text)
    except (CaptureError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    return 0
