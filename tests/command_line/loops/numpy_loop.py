"""A training loop in NumPy as a user would write it, with a switch for each of some well-known bugs, and every tap.

Two linear layers with ReLU between them and cross-entropy; clip by norm, weight decay, SGD with momentum or Adam, a rate
that halves, a constant loss scale. What the loop is to do is the case; what it does is the case but for its bug.
"""
import numpy as np

F = np.float32
INPUT, HIDDEN, CLASSES = 16, 32, 8
WINDOWS = [[4, 4, 4, 4], [4, 4, 4, 2], [4, 4, 4]]  # a short last micro-batch, and a short last window
LABELS = ["fc1", "fc2"]
IGNORED = -100
BETA1, BETA2, EPS, MOMENTUM = 0.9, 0.999, 1e-8, 0.9


class Loop:
    """`recipe`: what the case says. `bug`: what is done otherwise. `taps`: name -> value, in the order of the stages."""

    def __init__(self, recipe, bug=""):
        self.recipe, self.bug, self.taps = recipe, bug, {}
        random = np.random.default_rng(7)
        rows = sum(map(sum, WINDOWS))
        self.x = random.standard_normal((rows, INPUT), dtype=F)
        self.target = random.integers(0, CLASSES, rows)
        self.target[[5, 11, 12]] = IGNORED
        self.parameters = {}
        for label, fan_in, fan_out in (("fc1", INPUT, HIDDEN), ("fc2", HIDDEN, CLASSES)):
            self.parameters[f"{label}.weight"] = random.standard_normal((fan_out, fan_in), dtype=F) * F(fan_in ** -0.5)
            self.parameters[f"{label}.bias"] = random.standard_normal(fan_out, dtype=F) * F(0.25)
        self.initial = {name: value.copy() for name, value in self.parameters.items()}
        self.state, self.steps, self.calls, self.row = {}, 0, 0, 0
        self.gradients = {name: np.zeros_like(value) for name, value in self.parameters.items()}

    def tap(self, name, value):
        """A stage that runs twice leaves its first inputs and its last outputs."""
        if not ("/in." in name and name in self.taps):
            self.taps[name] = np.array(value, copy=True)

    # --- what a micro-batch does
    def forward(self, m, x):
        inputs = []
        for label in LABELS:
            weight, bias = self.parameters[f"{label}.weight"], self.parameters[f"{label}.bias"]
            inputs.append(x)
            self.tap(f"{m}/forward/in.{label}.x", x)
            self.tap(f"{m}/forward/in.{label}.weight", weight)
            self.tap(f"{m}/forward/in.{label}.bias", bias)
            x = x @ weight.T + bias
            self.tap(f"{m}/forward/{label}.y", x)
            if label == "fc1":
                inputs.append(x)
                self.tap(f"{m}/forward/in.relu#1.x", x)
                x = np.maximum(x, F(0))
                self.tap(f"{m}/forward/relu#1.y", x)
        return x, inputs

    def divisor(self, sizes, k):
        """By what the sum over a micro-batch's rows is divided. Ignored rows are no items."""
        valid = self.target != IGNORED
        own = int(valid[self.row - sizes[k]:self.row].sum())
        start = self.row - sum(sizes[:k + 1])
        items, count = int(valid[start:start + sum(sizes)].sum()), len(sizes)
        divisors = {"not-divided": own, "mean-of-means": count * own, "configured-k": len(WINDOWS[0]) * own,
                    "configured-k-of-items": items * len(WINDOWS[0]) / count, "divided-twice": count * items,
                    "times-k": items / count, "k-minus-one": items * (count - 1) / count, "a-sum": 1,
                    "rows-counted": sum(sizes), "half-as-many-items": items / 2 + 0.25}
        return divisors.get(self.bug, items)

    def loss(self, m, y, target, factor):
        self.tap(f"{m}/loss/in.y", y)
        self.tap(f"{m}/loss/in.target", target)
        self.tap(f"{m}/loss/in.factor", factor)
        shifted = y - y.max(axis=1, keepdims=True)
        exponentials = np.exp(shifted)
        sums = exponentials.sum(axis=1, keepdims=True)
        ignored = target == IGNORED
        chosen = np.arange(len(target)), np.where(ignored, 0, target)
        self.tap(f"{m}/loss/loss", np.where(ignored, F(0), np.log(sums[:, 0]) - shifted[chosen]))
        share = exponentials / sums
        share[chosen] -= F(1)
        gradient = np.where(ignored[:, None], F(0), share * factor)
        self.tap(f"{m}/loss/d.y", gradient)
        return gradient

    def backward(self, m, gradient, inputs, penalty):
        found = {}
        for i, label in reversed(list(enumerate(LABELS))):
            weight, x = self.parameters[f"{label}.weight"], inputs[2 * i]
            self.tap(f"{m}/backward/in.d.{label}.y", gradient)
            self.tap(f"{m}/backward/in.{label}.x", x)
            self.tap(f"{m}/backward/in.{label}.weight", weight)
            self.tap(f"{m}/backward/in.{label}.bias", self.parameters[f"{label}.bias"])
            found[f"{label}.weight"], found[f"{label}.bias"] = gradient.T @ x, gradient.sum(axis=0)
            for name in (f"{label}.weight", f"{label}.bias"):
                if penalty:
                    found[name] = found[name] + F(penalty) * self.parameters[name]
            into = gradient @ weight
            if i > 0:
                self.tap(f"{m}/backward/d.{label}.x", into)
            self.tap(f"{m}/backward/d.{label}.weight", found[f"{label}.weight"])
            self.tap(f"{m}/backward/d.{label}.bias", found[f"{label}.bias"])
            if i > 0:
                self.tap(f"{m}/backward/in.d.relu#1.y", into)
                self.tap(f"{m}/backward/in.relu#1.x", inputs[1])
                gradient = np.where(inputs[1] > 0, into, F(0))
                self.tap(f"{m}/backward/d.relu#1.x", gradient)
        return found

    def micro_batch(self, w, k, sizes):
        m, rows = f"w{w}/m{k}", slice(self.row, self.row + sizes[k])
        self.row += sizes[k]
        y, inputs = self.forward(m, self.x[rows])
        factor = F(self.recipe["scale"] / self.divisor(sizes, k))
        penalty = 0
        if self.bug.startswith("decay-in-the-loss"):
            penalty = self.recipe["lambda"] * self.recipe["scale"] / (len(sizes) if self.bug.endswith("mean") else 1)
        found = self.backward(m, self.loss(m, y, self.target[rows], factor), inputs, penalty)
        if self.bug == "clip-each-gradient":
            self.clip_in_place(found)
        for name, gradient in found.items():
            buffer = self.gradients[name]
            if self.bug == "zero-grad-inside":
                buffer.fill(0)
            self.tap(f"{m}/accumulate/in.d.{name}", gradient)
            self.tap(f"{m}/accumulate/in.buffer.{name}", buffer)
            buffer += gradient
            self.tap(f"{m}/accumulate/buffer.{name}", buffer)
        if self.bug == "clip-running-sum" and k + 1 < len(sizes):
            self.clip_in_place(self.gradients)

    # --- what a window does
    def norm_of(self, gradients):
        return np.sqrt(np.sum([np.square(g).sum() for g in gradients.values()], dtype=F))

    def coefficient(self, norm):
        return np.minimum(F(self.recipe["max_norm"]) / (norm + F(1e-6)), F(1))

    def clip_in_place(self, gradients):
        coefficient = self.coefficient(self.norm_of(gradients))
        for gradient in gradients.values():
            gradient *= coefficient

    def unscale(self, w):
        inverse = F(1 / self.recipe["scale"])
        self.tap(f"w{w}/unscale/in.inverse_scale", inverse)
        for name, gradient in self.gradients.items():
            self.tap(f"w{w}/unscale/in.buffer.{name}", gradient)
            gradient *= inverse
            self.tap(f"w{w}/unscale/d.{name}", gradient)

    def clip(self, w):
        for name, gradient in self.gradients.items():
            self.tap(f"w{w}/norm/in.d.{name}", gradient)
        norm = self.norm_of(self.gradients)
        coefficient = self.coefficient(norm)
        self.tap(f"w{w}/norm/norm", norm)
        self.tap(f"w{w}/clip/in.norm", norm)
        self.tap(f"w{w}/clip/coefficient", coefficient)
        for name, gradient in self.gradients.items():
            self.tap(f"w{w}/clip/in.d.{name}", gradient)
            gradient *= coefficient
            self.tap(f"w{w}/clip/d.{name}", gradient)

    def rate(self):
        """Halves after every two calls of the schedule."""
        return self.recipe["rate"] * 0.5 ** ((self.calls + (self.bug == "schedule-ahead")) // 2)

    def decay_of(self, w, name, gradient, rate):
        """The gradient that the optimizer gets. Decoupled decay shrinks the parameter."""
        kind, parameter = self.recipe["decay"], self.parameters[name]
        if self.bug in ("l2-for-decoupled", "decoupled-for-l2", "no-decay") or self.bug.startswith("decay-in-the-loss"):
            kind = {"l2-for-decoupled": "l2 unseen", "decoupled-for-l2": "decoupled unseen"}.get(self.bug, "none")
        seen = self.tap if not kind.endswith("unseen") else lambda name, value: None
        times = len(WINDOWS[w]) if self.bug == "decay-per-micro-batch" else 1
        if kind.startswith("l2"):
            seen(f"w{w}/decay/in.d.{name}", gradient)
            seen(f"w{w}/decay/in.{name}", parameter)
            gradient = gradient + F(times * self.recipe["lambda"]) * parameter
            seen(f"w{w}/decay/d.{name}", gradient)
        if kind.startswith("decoupled"):
            seen(f"w{w}/decay/in.{name}", parameter)
            for _ in range(times):
                parameter *= F(1 - rate * self.recipe["lambda"])
            seen(f"w{w}/decay/{name}", parameter)
        return gradient

    def step(self, w):
        rate = self.rate()
        self.tap(f"w{w}/optimizer/in.learning_rate", F(rate))
        self.tap(f"w{w}/optimizer/in.step", np.int64(self.steps))
        for name, gradient in self.gradients.items():
            gradient = self.decay_of(w, name, gradient, rate)
            self.tap(f"w{w}/optimizer/in.d.{name}", gradient)
            parameter = self.parameters[name]
            self.tap(f"w{w}/optimizer/in.{name}", parameter)
            (self.sgd if self.recipe["optimizer"] == "sgd" else self.adam)(w, name, gradient, parameter, rate)
            self.tap(f"w{w}/optimizer/{name}", parameter)
        self.steps += 1

    def sgd(self, w, name, gradient, parameter, rate):
        if name in self.state:
            self.tap(f"w{w}/optimizer/in.momentum.{name}", self.state[name])
            self.state[name] = F(0.75 if self.bug == "other-momentum" else MOMENTUM) * self.state[name] + gradient
        else:
            self.state[name] = gradient.copy()
        update = gradient + F(MOMENTUM) * self.state[name] if self.bug == "nesterov" else self.state[name]
        self.tap(f"w{w}/optimizer/momentum.{name}", self.state[name])
        parameter -= F(rate) * update

    def adam(self, w, name, gradient, parameter, rate):
        first, second = self.state.get(name, (np.zeros_like(gradient), np.zeros_like(gradient)))
        self.tap(f"w{w}/optimizer/in.exp_avg.{name}", first)
        self.tap(f"w{w}/optimizer/in.exp_avg_sq.{name}", second)
        first = F(BETA1) * first + F(1 - BETA1) * gradient
        second = F(BETA2) * second + F(1 - BETA2) * (gradient * gradient)
        self.state[name] = first, second
        self.tap(f"w{w}/optimizer/exp_avg.{name}", first)
        self.tap(f"w{w}/optimizer/exp_avg_sq.{name}", second)
        counts = {"count-stuck": 1, "count-per-micro-batch": sum(len(sizes) for sizes in WINDOWS[:w + 1])}
        counted = counts.get(self.bug, self.steps + 1)
        one, two = (1 - BETA1 ** counted, 1 - BETA2 ** counted)
        if self.bug == "no-bias-correction":
            one = two = 1
        parameter -= F(rate) * ((first / F(one)) / (np.sqrt(second / F(two)) + F(EPS)))

    def end_of_window(self, w):
        if self.recipe["max_norm"] and self.bug == "clip-before-unscale":
            self.clip(w)
            self.unscale(w)
        else:
            self.unscale(w)
            if self.recipe["max_norm"] and self.bug not in ("clip-absent", "clip-each-gradient"):
                self.clip(w)
        self.step(w)

    def schedule(self, w):
        self.tap(f"w{w}/schedule/in.step", np.int64(w))
        self.tap(f"w{w}/schedule/in.found", np.uint8(0))
        self.tap(f"w{w}/schedule/step", np.int64(w + 1))
        self.tap(f"w{w}/schedule/learning_rate", F(self.rate()))

    def clear(self):
        for gradient in self.gradients.values():
            gradient.fill(0)

    def run(self):
        for w, sizes in enumerate(WINDOWS):
            for name, value in self.parameters.items():
                self.tap(f"w{w}/cast/in.{name}", value)
                self.tap(f"w{w}/cast/{name}", value)
            if self.bug != "no-zero-grad":
                self.clear()
            for k in range(len(sizes)):
                self.micro_batch(w, k, sizes)
                if self.bug == "step-per-micro-batch":
                    self.end_of_window(w)
                    self.clear()
                if self.bug == "schedule-per-micro-batch" and k + 1 < len(sizes):
                    self.calls += 1
            if self.bug != "step-per-micro-batch":
                self.end_of_window(w)
            self.schedule(w)
            self.calls += self.bug != "schedule-stuck"
        return self.taps
