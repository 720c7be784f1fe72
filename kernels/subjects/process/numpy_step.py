"""A training step in NumPy as a subject of Tally, in one file: `tally verify --subject 'exec:python3 numpy_step.py'`.

Linear layers and ReLU, mean squares or cross-entropy, accumulation over micro-batches, a static loss scale, clipping by
norm, SGD with momentum, all in fp32; every other case is declined. To judge a step of your own, replace `Step` and keep the rest, or
import this file: `numpy_step.serve(YourStep)`. The lines and files are those of process.md.
"""
import json
import sys

import numpy as np

F = np.float32
DTYPES = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I64": np.dtype("<i8"), "U8": np.dtype("u1"),
          "BF16": np.dtype("<u2")}  # NumPy has no bf16: its bits
NAMES = {"<f4": "F32", "<f2": "F16", "<i8": "I64", "|u1": "U8"}


class Declined(Exception):
    """This step does no such thing; the text says what, and what it does."""


def read_tensors(path):
    """The tensors of a safetensors file by name."""
    with open(path, "rb") as file:
        data = file.read()
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name == "__metadata__":
            continue
        dtype, (begin, end) = DTYPES[entry["dtype"]], entry["data_offsets"]
        tensors[name] = np.frombuffer(data, dtype, (end - begin) // dtype.itemsize, start + begin).reshape(entry["shape"])
    return tensors


def write_trace(path, taps, sha256, claims):
    """Taps as a trace of the case: kernels/trace/trace.md."""
    header, at, parts = {}, 0, []
    for name, value in taps.items():
        part = value.tobytes()
        header[name] = {"dtype": NAMES[value.dtype.str], "shape": value.shape, "data_offsets": (at, at + len(part))}
        at += len(part)
        parts.append(part)
    header["__metadata__"] = {"tally_trace": "1", "case": sha256, "claims": claims, "order": "\n".join(taps) + "\n"}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(parts))


class Step:
    """Trains on one case and keeps, in `taps`, what every stage read and left."""

    # Sums in any order, as BLAS likes; constants derived in binary64 and rounded once.
    claims = {"subject": "NumPy", "constants": "binary64", "divide": "micro_batch", "flushes_subnormals": False,
              "tensor_cores": False, "kernels": {}}

    def __init__(self, case, tensors):
        self.case, self.tensors, self.taps = case, tensors, {}
        self.require()
        recipe = case["recipe"]
        self.rate = F(recipe["learning_rate"]["base"])
        self.momentum = F(recipe["optimizer"]["momentum"])
        self.kept = F(1 - recipe["optimizer"]["dampening"])
        self.parameters, self.buffers, self.state = {}, {}, {}
        for layer in self.layers():
            for tensor in ("weight", "bias"):
                name = f"{layer['name']}.{tensor}" if layer["kind"] == "linear" else ""
                if name in tensors:
                    self.parameters[name] = tensors[name].copy()
                    if f"momentum.{name}" in tensors:
                        self.state[name] = tensors[f"momentum.{name}"].copy()
        self.steps = tensors["step"].copy() if "step" in tensors else np.array(0, np.int64)
        self.row = 0

    def layers(self):
        """With what a tap calls each."""
        return [{"label": layer.get("name") or f"{layer['kind']}#{i}", **layer}
                for i, layer in enumerate(self.case["model"]["layers"])]

    def require(self):
        def only(place, value, *wanted):
            if value not in wanted:
                raise Declined(f"{place} is {value!r}; this step takes {' or '.join(map(repr, wanted))}")
        case, recipe, loss = self.case, self.case["recipe"], self.case["model"]["loss"]
        for key in ("storage", "compute", "accumulate", "master"):
            only(f"precision.{key}", case["precision"][key], "fp32")
        for i, layer in enumerate(case["model"]["layers"]):
            only(f"model.layers[{i}].kind", layer["kind"], "linear", "relu")
        only("model.loss.kind", loss["kind"], "mse", "cross_entropy")
        if loss["kind"] == "mse":
            only("model.loss.item_weights", loss["item_weights"], False)
        else:
            only("model.loss.label_smoothing", loss["label_smoothing"], 0)
            only("model.loss.weight", loss["weight"], [])
        only("recipe.optimizer.kind", recipe["optimizer"]["kind"], "sgd")
        only("recipe.learning_rate.kind", recipe["learning_rate"]["kind"], "constant")
        only("recipe.clip.kind", recipe["clip"]["kind"], "none", "global_norm")
        if recipe["clip"]["kind"] == "global_norm":
            only("recipe.clip.norm", recipe["clip"]["norm"], 2)
        only("recipe.weight_decay.kind", recipe["weight_decay"]["kind"], "none")
        only("recipe.loss_scale.kind", recipe["loss_scale"]["kind"], "none", "static")

    def tap(self, place, value):
        self.taps[place] = np.array(value)  # a copy: what it was then

    # --- one micro-batch
    def items(self, first, rows):
        if self.case["model"]["loss"]["kind"] == "mse":
            return rows
        return int((self.tensors["target"][first:first + rows] != self.case["model"]["loss"]["ignore_index"]).sum())

    def scale(self):
        return self.case["recipe"]["loss_scale"].get("scale", 1)

    def factor(self, window, k):
        """What the loss is multiplied by on its way back."""
        sizes = self.case["windows"][window]
        start = self.row - sum(sizes[:k])
        own = self.items(self.row, sizes[k])
        divisor = {"window_items": self.items(start, sum(sizes)), "mean_of_means": len(sizes) * own, "sum": 1,
                   "mean_of_means_configured": len(self.case["windows"][0]) * own}[self.case["normalisation"]]
        return F(self.scale() / divisor) if divisor else F(0)

    def forward(self, at, x):
        inputs = []
        for layer in self.layers():
            label = layer["label"]
            inputs.append(x)
            self.tap(f"{at}/forward/in.{label}.x", x)
            if layer["kind"] == "linear":
                weight, bias = self.parameters[f"{label}.weight"], self.parameters.get(f"{label}.bias")
                self.tap(f"{at}/forward/in.{label}.weight", weight)
                x = x @ weight.T
                if bias is not None:
                    self.tap(f"{at}/forward/in.{label}.bias", bias)
                    x = x + bias
            else:
                x = np.maximum(x, F(0))
            self.tap(f"{at}/forward/{label}.y", x)
        return x, inputs

    def loss(self, at, y, target, factor):
        self.tap(f"{at}/loss/in.y", y)
        self.tap(f"{at}/loss/in.target", target)
        self.tap(f"{at}/loss/in.factor", factor)
        if self.case["model"]["loss"]["kind"] == "mse":
            apart, features = y - target, F(y.shape[1])
            losses, dy = (apart * apart).sum(axis=1) / features, factor * (F(2) * apart / features)
        else:
            counts = target != self.case["model"]["loss"]["ignore_index"]
            rows, classes = np.arange(len(y)), np.where(counts, target, 0)
            away = y - y.max(axis=1, keepdims=True)
            powers = np.exp(away)
            sums = powers.sum(axis=1, keepdims=True)
            losses = np.where(counts, np.log(sums[:, 0]) - away[rows, classes], F(0))
            dy = powers / sums
            dy[rows, classes] -= F(1)
            dy = np.where(counts[:, None], factor * dy, F(0))
        self.tap(f"{at}/loss/loss", losses)
        self.tap(f"{at}/loss/d.y", dy)
        return dy

    def backward(self, at, inputs, dy):
        gradients, layers = {}, self.layers()
        first = min(i for i, layer in enumerate(layers) if layer["kind"] == "linear")
        for i, layer in reversed(list(enumerate(layers))[first:]):
            label, x = layer["label"], inputs[i]
            self.tap(f"{at}/backward/in.d.{label}.y", dy)
            self.tap(f"{at}/backward/in.{label}.x", x)
            if layer["kind"] == "linear":
                gradients[f"{label}.weight"] = dy.T @ x
                if f"{label}.bias" in self.parameters:
                    gradients[f"{label}.bias"] = dy.sum(axis=0)
                if i > first:
                    self.tap(f"{at}/backward/in.{label}.weight", self.parameters[f"{label}.weight"])
                    dy = dy @ self.parameters[f"{label}.weight"]
            else:
                dy = np.where(x > 0, dy, F(0))
            if i > first:
                self.tap(f"{at}/backward/d.{label}.x", dy)
        for name, gradient in gradients.items():
            self.tap(f"{at}/backward/d.{name}", gradient)
        return gradients

    def accumulate(self, at, gradients):
        for name, gradient in gradients.items():
            self.tap(f"{at}/accumulate/in.d.{name}", gradient)
            self.tap(f"{at}/accumulate/in.buffer.{name}", self.buffers[name])
            self.buffers[name] = self.buffers[name] + gradient
            self.tap(f"{at}/accumulate/buffer.{name}", self.buffers[name])

    # --- one window
    def unscaled(self, at):
        inverse, gradients = F(1 / self.scale()), {}
        self.tap(f"{at}/unscale/in.inverse_scale", inverse)
        for name, buffer in self.buffers.items():
            self.tap(f"{at}/unscale/in.buffer.{name}", buffer)
            gradients[name] = buffer * inverse
            self.tap(f"{at}/unscale/d.{name}", gradients[name])
        return gradients

    def clipped(self, at, gradients):
        clip = self.case["recipe"]["clip"]
        if clip["kind"] == "none":
            return gradients
        for name, gradient in gradients.items():
            self.tap(f"{at}/norm/in.d.{name}", gradient)
        norm = np.sqrt(sum((np.square(g).sum(dtype=F) for g in gradients.values()), F(0)))
        self.tap(f"{at}/norm/norm", norm)
        coefficient = np.minimum(F(1), F(clip["max_norm"]) / (norm + F(clip["epsilon"])))
        self.tap(f"{at}/clip/in.norm", norm)
        self.tap(f"{at}/clip/coefficient", coefficient)
        result = {}
        for name, gradient in gradients.items():
            self.tap(f"{at}/clip/in.d.{name}", gradient)
            result[name] = gradient * coefficient
            self.tap(f"{at}/clip/d.{name}", result[name])
        return result

    def optimize(self, at, gradients):
        self.tap(f"{at}/optimizer/in.learning_rate", self.rate)
        self.tap(f"{at}/optimizer/in.step", self.steps)
        for name, gradient in gradients.items():
            self.tap(f"{at}/optimizer/in.d.{name}", gradient)
            self.tap(f"{at}/optimizer/in.{name}", self.parameters[name])
            direction = gradient
            if self.momentum != 0:
                if name in self.state:
                    self.tap(f"{at}/optimizer/in.momentum.{name}", self.state[name])
                    direction = self.momentum * self.state[name] + self.kept * gradient
                self.state[name] = direction
                self.tap(f"{at}/optimizer/momentum.{name}", direction)
                if self.case["recipe"]["optimizer"]["nesterov"]:
                    direction = gradient + self.momentum * direction
            self.parameters[name] = self.parameters[name] - self.rate * direction
            self.tap(f"{at}/optimizer/{name}", self.parameters[name])

    def window(self, w):
        for name, value in self.parameters.items():
            self.buffers[name] = np.zeros_like(value)
            self.tap(f"w{w}/cast/in.{name}", value)
            self.tap(f"w{w}/cast/{name}", value)
        for k, rows in enumerate(self.case["windows"][w]):
            at, mine, factor = f"w{w}/m{k}", slice(self.row, self.row + rows), self.factor(w, k)
            y, inputs = self.forward(at, self.tensors["x"][mine])
            dy = self.loss(at, y, self.tensors["target"][mine], factor)
            self.accumulate(at, self.backward(at, inputs, dy))
            self.row += rows
        self.optimize(f"w{w}", self.clipped(f"w{w}", self.unscaled(f"w{w}")))
        self.tap(f"w{w}/schedule/in.step", self.steps)
        self.steps = self.steps + 1
        self.tap(f"w{w}/schedule/step", self.steps)
        self.tap(f"w{w}/schedule/learning_rate", self.rate)

    def train(self):
        for w in range(len(self.case["windows"])):
            self.window(w)


def answer(step, request):
    """The reply to one case."""
    number = request["run"]
    try:
        run = step(request["case"], read_tensors(request["tensors"]))
        run.train()
        write_trace(request["trace"], run.taps, request["sha256"], json.dumps(run.claims))
        return {"ran": number}
    except Declined as reason:
        return {"declined": number, "reason": str(reason)}


def serve(step=Step):
    """One line in, one line out, until there are no more. What is printed elsewhere must go to the error stream."""
    np.seterr(all="ignore")  # an infinity is a result like others
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"tally_step": 1, "name": step.claims["subject"]} if "tally_step" in request else answer(step, request)
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    serve()
