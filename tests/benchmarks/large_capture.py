#!/usr/bin/env python3
"""Writes a case of many parameters and the capture of one window of it, as a user's own loop in NumPy would leave it.

usage: tests/benchmarks/large_capture.py FOLDER [--width 3162] [--layers 10] [--rows 2] [--micro-batches 2]

Linear layers with ReLU between them, cross-entropy of 10 classes, clip by norm, SGD with momentum, all in fp32. Leaves
FOLDER/case.json, case.safetensors and trace.safetensors; the trace is written as it comes, so memory stays at a few
tensors. Judge it by `./tally check FOLDER/case.json FOLDER/trace.safetensors --lens local`.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import numpy as np

CLASSES = 10
RATE, MAX_NORM = np.float32(0.125), np.float32(1)
DTYPES = {"float32": "F32", "int64": "I64", "uint8": "U8"}
# NumPy adds up in pairs: blocks of 128 by eight sums, then a tree; then the parameters' sums, at most some dozen.
NORM = {"variant": "numpy", "repeats": "bitwise", "height": 64, "algorithm": "", "global_float_atomics": False,
        "result": "fp32"}
CLAIMS = {"subject": "a loop in NumPy", "constants": "fp32", "divide": "micro_batch", "flushes_subnormals": False,
          "tensor_cores": False, "kernels": {"norm": NORM}}


class TensorFile:
    """A safetensors file whose tensors are announced first and written in that order."""

    def __init__(self, path, announced, metadata):
        header, at = {"__metadata__": metadata}, 0
        for name, (dtype, shape) in announced.items():
            size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
            header[name] = {"dtype": DTYPES[dtype], "shape": list(shape), "data_offsets": [at, at + size]}
            at += size
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        self.file = open(path, "wb")
        self.file.write(len(text).to_bytes(8, "little") + text)
        self.expected = list(announced)

    def write(self, name, value):
        assert name == self.expected.pop(0), name
        value.tofile(self.file)

    def close(self):
        assert not self.expected, self.expected[0]
        self.file.close()


class Loop:
    """One window. `tap(name, value)` sees every tensor in the order of the stages."""

    def __init__(self, options, tap):
        self.options, self.tap = options, tap
        self.random = np.random.default_rng(1)
        self.sizes = [options.width] * options.layers + [CLASSES]
        self.labels = [f"fc{i + 1}" for i in range(options.layers)]
        rows = options.rows * options.micro_batches
        self.x = self.normal((rows, options.width), 1)
        self.target = self.random.integers(0, CLASSES, rows)
        self.parameters = {}
        for i, label in enumerate(self.labels):
            scale = np.sqrt(1 / self.sizes[i])
            self.parameters[f"{label}.weight"] = self.normal((self.sizes[i + 1], self.sizes[i]), scale)
            self.parameters[f"{label}.bias"] = self.normal((self.sizes[i + 1],), scale)

    def normal(self, shape, scale):
        return self.random.standard_normal(shape, dtype=np.float32) * np.float32(scale)

    def relu_of(self, i):
        return f"relu#{2 * i + 1}"

    def forward(self, m, x):
        inputs = []
        for i, label in enumerate(self.labels):
            weight, bias = self.parameters[f"{label}.weight"], self.parameters[f"{label}.bias"]
            inputs.append(x)
            self.tap(f"{m}/forward/in.{label}.x", x)
            self.tap(f"{m}/forward/in.{label}.weight", weight)
            self.tap(f"{m}/forward/in.{label}.bias", bias)
            x = x @ weight.T + bias
            self.tap(f"{m}/forward/{label}.y", x)
            if i + 1 < len(self.labels):
                inputs.append(x)
                self.tap(f"{m}/forward/in.{self.relu_of(i)}.x", x)
                x = np.maximum(x, np.float32(0))
                self.tap(f"{m}/forward/{self.relu_of(i)}.y", x)
        return x, inputs

    def loss(self, m, y, target):
        factor = np.float32(1 / len(self.x))
        self.tap(f"{m}/loss/in.y", y)
        self.tap(f"{m}/loss/in.target", target)
        self.tap(f"{m}/loss/in.factor", np.asarray(factor))
        shifted = y - y.max(axis=1, keepdims=True)
        exponentials = np.exp(shifted)
        sums = exponentials.sum(axis=1, keepdims=True)
        chosen = np.arange(len(target)), target
        self.tap(f"{m}/loss/loss", np.log(sums[:, 0]) - shifted[chosen])
        share = exponentials / sums
        share[chosen] -= np.float32(1)
        gradient = share * factor
        self.tap(f"{m}/loss/d.y", gradient)
        return gradient

    def backward(self, m, gradient, inputs):
        gradients = {}
        for i in range(len(self.labels) - 1, -1, -1):
            label = self.labels[i]
            weight, x = self.parameters[f"{label}.weight"], inputs[2 * i]
            self.tap(f"{m}/backward/in.d.{label}.y", gradient)
            self.tap(f"{m}/backward/in.{label}.x", x)
            self.tap(f"{m}/backward/in.{label}.weight", weight)
            self.tap(f"{m}/backward/in.{label}.bias", self.parameters[f"{label}.bias"])
            if i > 0:
                into = gradient @ weight
                self.tap(f"{m}/backward/d.{label}.x", into)
            gradients[f"{label}.weight"] = gradient.T @ x
            gradients[f"{label}.bias"] = gradient.sum(axis=0)
            self.tap(f"{m}/backward/d.{label}.weight", gradients[f"{label}.weight"])
            self.tap(f"{m}/backward/d.{label}.bias", gradients[f"{label}.bias"])
            if i > 0:
                relu, before = self.relu_of(i - 1), inputs[2 * i - 1]
                self.tap(f"{m}/backward/in.d.{relu}.y", into)
                self.tap(f"{m}/backward/in.{relu}.x", before)
                gradient = np.where(before > 0, into, np.float32(0))
                self.tap(f"{m}/backward/d.{relu}.x", gradient)
        return gradients

    def each(self):
        return self.parameters.items()

    def run(self):
        for name, value in self.each():
            self.tap(f"w0/cast/in.{name}", value)
            self.tap(f"w0/cast/{name}", value)
        buffers = {name: np.zeros_like(value) for name, value in self.each()}
        for k in range(self.options.micro_batches):
            m, rows = f"w0/m{k}", slice(k * self.options.rows, (k + 1) * self.options.rows)
            y, inputs = self.forward(m, self.x[rows])
            gradients = self.backward(m, self.loss(m, y, self.target[rows]), inputs)
            for name in self.parameters:
                self.tap(f"{m}/accumulate/in.d.{name}", gradients[name])
                self.tap(f"{m}/accumulate/in.buffer.{name}", buffers[name])
                buffers[name] += gradients.pop(name)
                self.tap(f"{m}/accumulate/buffer.{name}", buffers[name])
        self.step(buffers)

    def step(self, gradients):
        self.tap("w0/unscale/in.inverse_scale", np.asarray(np.float32(1)))
        for name, gradient in gradients.items():
            self.tap(f"w0/unscale/in.buffer.{name}", gradient)
            self.tap(f"w0/unscale/d.{name}", gradient)
        squares = []
        for name, gradient in gradients.items():
            self.tap(f"w0/norm/in.d.{name}", gradient)
            squares.append(np.square(gradient).sum())
        norm = np.sqrt(np.sum(squares, dtype=np.float32))
        coefficient = np.minimum(MAX_NORM / (norm + np.float32(1e-6)), np.float32(1))
        self.tap("w0/norm/norm", np.asarray(norm))
        self.tap("w0/clip/in.norm", np.asarray(norm))
        self.tap("w0/clip/coefficient", np.asarray(coefficient))
        for name, gradient in gradients.items():
            self.tap(f"w0/clip/in.d.{name}", gradient)
            gradient *= coefficient
            self.tap(f"w0/clip/d.{name}", gradient)
        self.tap("w0/optimizer/in.learning_rate", np.asarray(RATE))
        self.tap("w0/optimizer/in.step", np.asarray(np.int64(0)))
        for name, gradient in gradients.items():
            self.tap(f"w0/optimizer/in.d.{name}", gradient)
            self.tap(f"w0/optimizer/in.{name}", self.parameters[name])
            self.parameters[name] -= RATE * gradient
            self.tap(f"w0/optimizer/{name}", self.parameters[name])
            self.tap(f"w0/optimizer/momentum.{name}", gradient)
        self.tap("w0/schedule/in.step", np.asarray(np.int64(0)))
        self.tap("w0/schedule/in.found", np.asarray(np.uint8(0)))
        self.tap("w0/schedule/step", np.asarray(np.int64(1)))
        self.tap("w0/schedule/learning_rate", np.asarray(RATE))


def case_of(loop, options):
    layers = []
    for i, label in enumerate(loop.labels):
        layers.append({"kind": "linear", "name": label, "out": loop.sizes[i + 1]})
        if i + 1 < len(loop.labels):
            layers.append({"kind": "relu"})
    return {
        "tally_case": 1, "name": f"{options.layers} layers of {options.width}",
        "model": {"input": options.width, "layers": layers, "loss": {"kind": "cross_entropy"}},
        "windows": [[options.rows] * options.micro_batches],
        "precision": {"storage": "fp32", "compute": "fp32", "accumulate": "fp32", "master": "fp32", "tf32": False},
        "recipe": {"optimizer": {"kind": "sgd", "momentum": 0.9}, "learning_rate": {"kind": "constant", "base": 0.125},
                   "weight_decay": {"kind": "none"}, "clip": {"kind": "global_norm", "max_norm": 1.0},
                   "loss_scale": {"kind": "none"}},
        "tensors": {"file": "case.safetensors"}}


def announced_by(options):
    """Names, dtypes and shapes of all taps, by a run on one feature a layer whose shapes are then those of the model."""
    narrow = argparse.Namespace(**vars(options))
    seen = {}
    stand_in = 3  # differs from the classes, so that a size tells what it is of
    assert stand_in != options.rows and stand_in != CLASSES
    narrow.width = stand_in
    whole = lambda shape: tuple(options.width if size == stand_in else size for size in shape)
    Loop(narrow, lambda name, value: seen.setdefault(name, (value.dtype.name, whole(value.shape)))).run()
    return seen


def hash_of(tally, case_file):
    return subprocess.run([tally, "hash", case_file], capture_output=True, text=True, check=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--width", type=int, default=3162)
    parser.add_argument("--layers", type=int, default=10)
    parser.add_argument("--rows", type=int, default=2)
    parser.add_argument("--micro-batches", type=int, default=2)
    parser.add_argument("--tally", default=pathlib.Path(__file__).resolve().parents[2] / "tally")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    loop = Loop(options, None)
    case_file = options.folder / "case.json"
    case_file.write_text(json.dumps(case_of(loop, options)), encoding="utf-8")
    given = {**loop.parameters, "x": loop.x, "target": loop.target}
    tensors = TensorFile(options.folder / "case.safetensors",
                         {name: (value.dtype.name, value.shape) for name, value in given.items()}, {})
    for name, value in given.items():
        tensors.write(name, value)
    tensors.close()
    announced = announced_by(options)
    metadata = {"tally_trace": "1", "case": hash_of(options.tally, case_file), "claims": json.dumps(CLAIMS),
                "order": "".join(name + "\n" for name in announced)}
    trace = TensorFile(options.folder / "trace.safetensors", announced, metadata)
    loop.tap = trace.write
    loop.run()
    trace.close()
    print(f"{sum(p.size for p in loop.parameters.values()):,} parameters in {options.folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
