#!/usr/bin/env python3
"""A loop is its own oracle: its rows in other micro-batches: python3 tests/vary_test.py"""
import copy
import inspect
import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import needs_torch  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import tally_recorder  # noqa: E402

ROWS = 8
OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01),
    "AMSGrad": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True), "Adagrad": lambda p: torch.optim.Adagrad(p),
    "Adadelta": lambda p: torch.optim.Adadelta(p), "NAdam": lambda p: torch.optim.NAdam(p),
    "RAdam": lambda p: torch.optim.RAdam(p), "Adamax": lambda p: torch.optim.Adamax(p),
    "Rprop": lambda p: torch.optim.Rprop(p), "RMSprop": lambda p: torch.optim.RMSprop(p, centered=True)}


def network(*layers):
    return nn.Sequential(nn.Linear(6, 8), *layers, nn.Tanh(), nn.Linear(8, 4))


def made(optimizer=OPTIMIZERS["SGD"], *layers):
    model = network(*layers)
    return {"model": model, "optimizer": optimizer(model.parameters())}


def data(_):
    return {"x": torch.randn(ROWS, 6), "y": torch.randint(0, 4, (ROWS,))}


def rows_of(micro_batches):
    return sum(len(batch["x"]) for batch in micro_batches)


def loop(weigh, behind=lambda state: None, before=lambda state: None, clear="window"):
    """A step whose micro-batches' mean losses are weighed by `weigh(n, N, K)`."""
    def step(state, micro_batches):
        state["optimizer"].zero_grad()
        for batch in micro_batches:
            if clear == "micro-batch":
                state["optimizer"].zero_grad()
            loss = F.cross_entropy(state["model"](batch["x"]), batch["y"])
            (loss * weigh(len(batch["x"]), rows_of(micro_batches), len(micro_batches))).backward()
            behind(state)
        before(state)
        state["optimizer"].step()
    return step


RIGHT, MEANS = loop(lambda n, N, K: n / N), loop(lambda n, N, K: 1 / K)


def clip(state):
    nn.utils.clip_grad_norm_(state["model"].parameters(), 0.05)


def sharpness_aware(second):
    """SAM: `second` of the micro-batches are passed through again at the moved parameters."""
    def step(state, micro_batches):
        def passed(batches):
            state["optimizer"].zero_grad()
            for batch in batches:
                (F.cross_entropy(state["model"](batch["x"]), batch["y"], reduction="sum") / rows_of(batches)).backward()
        passed(micro_batches)
        with torch.no_grad():
            parameters = list(state["model"].parameters())
            norm = torch.stack([parameter.grad.norm() for parameter in parameters]).norm()
            moves = [0.05 * parameter.grad / norm for parameter in parameters]
            for parameter, move in zip(parameters, moves):
                parameter += move
        passed(second(micro_batches))
        with torch.no_grad():
            for parameter, move in zip(parameters, moves):
                parameter -= move
        state["optimizer"].step()
    return step


def adversarial(divide):
    """A GAN with two optimizers; `divide(n, N, K)` weighs each mean."""
    def make():
        one, other = nn.Linear(4, 6), nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
        return [one, other, torch.optim.Adam(one.parameters()), torch.optim.Adam(other.parameters())]

    def step(state, micro_batches):
        generator, critic, of_generator, of_critic = state
        K, N = len(micro_batches), rows_of(micro_batches)
        for optimizer, sign in ((of_critic, 1), (of_generator, -1)):
            of_critic.zero_grad(), of_generator.zero_grad()
            for batch in micro_batches:
                made_up = critic(generator(batch["x"][:, :4]))
                loss = F.softplus(sign * made_up).mean() + (F.softplus(-critic(batch["x"])).mean() if sign > 0 else 0)
                (loss * divide(len(batch["x"]), N, K)).backward()
            optimizer.step()
    return make, step


def varied(step, make=made, **options):
    with tempfile.TemporaryDirectory() as folder:
        return tally_recorder.vary(step, make=make, **{"data": data, "rows": ROWS, "out": folder, **options})


class Right(unittest.TestCase):
    def passes(self, step, make=made, **options):
        verdict = varied(step, make, **options)
        self.assertTrue(verdict.passed, verdict.sentence)
        verdict.raise_if_failed()

    def test_under_every_optimizer(self):
        for name, optimizer in OPTIMIZERS.items():
            with self.subTest(name):
                self.passes(RIGHT, lambda optimizer=optimizer: made(optimizer))

    def test_with_a_clip_and_dead_units(self):
        self.passes(loop(lambda n, N, K: n / N, before=clip))
        self.passes(RIGHT, lambda: made(OPTIMIZERS["SGD"], nn.ReLU()))
        self.passes(RIGHT, lambda: made(OPTIMIZERS["SGD"], nn.LayerNorm(8)))

    def test_with_two_passes_and_two_optimizers(self):
        self.passes(sharpness_aware(lambda micro_batches: micro_batches))
        make, step = adversarial(lambda n, N, K: n / N)
        self.passes(step, make)

    def test_means_of_equal_micro_batches_are_not_right(self):
        """They agree where all have as many rows; unequal ones are drawn as well."""
        dealt = [tuple(gap["sizes"]) for gap in varied(RIGHT).gaps]
        self.assertIn((3, 3, 2), dealt)
        self.assertTrue(any(len(set(sizes)) == 1 for sizes in dealt))


class Wrong(unittest.TestCase):
    def fails(self, cause, step, make=made, said="", **options):
        verdict = varied(step, make, **options)
        self.assertFalse(verdict.passed, verdict)
        self.assertEqual(verdict.cause, cause, verdict.sentence)
        self.assertIn(said, verdict.sentence)
        self.assertRaises(AssertionError, verdict.raise_if_failed)
        return verdict

    def test_weights_are_the_cause(self):
        verdict = self.fails("1/(K n_k)", MEANS, said="weigh each mean by its own rows / 8")
        self.assertEqual(len(verdict.partition), 2)
        for weight, size in zip(verdict.weights, verdict.partition):
            self.assertAlmostEqual(weight, 1 / (2 * size), delta=2.0**-30)
        self.fails("1/n_k", loop(lambda n, N, K: 1.0))
        self.fails("1/K", loop(lambda n, N, K: n / K))
        self.fails("1/K", loop(lambda n, N, K: n / (N * K)), said="leave the division by K out")
        self.fails("the last alone", loop(lambda n, N, K: n / N, clear="micro-batch"), said="the last of 2 micro-batches")

    def test_formats_of_the_step_are_lifted(self):
        """A divisor that is added up in float32 rounds otherwise for every partition."""
        weight, scratch = torch.tensor([0.1, 0.2, 0.3, 0.4]), torch.zeros(ROWS)

        def kept(batch):
            scratch[:len(batch["y"])].copy_(batch["x"][:, 0].abs() + 1)
            self.assertTrue(bool(scratch[:len(batch["y"])].all()))
            return (scratch[:len(batch["y"])] * weight[0]).sum()
        sums = {"a constant": lambda batch: weight[batch["y"]].sum(), "a cast": lambda batch: batch["x"].float().exp().sum(),
                "a format": lambda batch: batch["x"].exp().sum(dtype=torch.float32), "a buffer": kept,
                "a factory": lambda batch: (torch.ones(len(batch["y"]), dtype=torch.float32) / 3).sum()}
        for name, of in sums.items():
            with self.subTest(name):
                def step(state, micro_batches, of=of):
                    scratch.zero_()
                    state["optimizer"].zero_grad()
                    by = sum(of(batch) for batch in micro_batches)
                    for batch in micro_batches:
                        (F.cross_entropy(state["model"](batch["x"]), batch["y"], reduction="sum") / by).backward()
                    state["optimizer"].step()
                verdict = varied(step)
                self.assertTrue(verdict.passed, verdict.sentence)

    def test_what_else_is_added_is_named(self):
        def stale(state, micro_batches):
            """Gradients are cleared behind every full group of 8 rows."""
            N = rows_of(micro_batches)
            for batch in micro_batches:
                (F.cross_entropy(state["model"](batch["x"]), batch["y"], reduction="sum") / N).backward()
            state["optimizer"].step()
            if len(micro_batches) == 1:
                state["optimizer"].zero_grad()
        self.fails("stale gradient", stale, said="1 times window 0's gradient")

        def penalised(norm):
            def behind(state):
                for parameter in state["model"].parameters():
                    parameter.grad.add_(norm(parameter.detach()), alpha=0.25)
            return loop(lambda n, N, K: n / N, behind=behind)
        self.fails("parameters added", penalised(lambda parameter: parameter), said="0.25 times the parameters")
        self.fails("parameters added", penalised(torch.sign), said="0.25 times the signs of the parameters")

        def momentum(state, micro_batches):
            """Nesterov's look-ahead by hand, once a micro-batch."""
            state["optimizer"].zero_grad()
            for batch in micro_batches:
                (F.cross_entropy(state["model"](batch["x"]), batch["y"], reduction="sum") / rows_of(micro_batches)).backward()
                for parameter in state["model"].parameters():
                    held = state["optimizer"].state.get(parameter, {}).get("momentum_buffer")
                    if held is not None:
                        parameter.grad.add_(held, alpha=0.5)
            state["optimizer"].step()

        def warm():
            state = made()
            RIGHT(state, [data(0)])
            return state
        self.fails("another term", momentum, warm, said="0.5 times the moments (momentum_buffer)")

    def test_places_are_those_of_the_program(self):
        def step(state, micro_batches):
            state["optimizer"].zero_grad()
            for batch in micro_batches:
                loss = F.cross_entropy(state["model"](batch["x"]), batch["y"])
                loss = loss / len(micro_batches)
                loss.backward()
            state["optimizer"].step()
        with tempfile.TemporaryDirectory() as folder:
            varied(step, out=folder)
            with open(os.path.join(folder, "vary.json"), encoding="utf-8") as file:
                weights = json.load(file)["weights"][-1]
        first = step.__code__.co_firstlineno
        self.assertEqual({name: (place["file"], place["line"] - first, place["text"]) for name, place in weights["places"].items()},
                         {"scaled": (__file__, 4, "loss = loss / len(micro_batches)"), "backward": (__file__, 5, "loss.backward()"),
                          "step": (__file__, 6, 'state["optimizer"].step()')})
        self.assertEqual(weights["place"], weights["places"]["scaled"])
        self.assertEqual(weights["stage"], "accumulated")

    def items(self, step, data):
        with tempfile.TemporaryDirectory() as folder:
            varied(step, lambda: {"model": nn.Linear(1, 3), "optimizer": torch.optim.SGD([torch.zeros(1)], 0.1)}, data=data, out=folder)
            with open(os.path.join(folder, "vary.json"), encoding="utf-8") as file:
                return {str(run["sizes"]): run["items"] for run in json.load(file)["runs"]}

    def test_items_are_counted(self):
        """Of labels that a loss ignores, and of a mask that stands beside the rows: 1, 2, …, 8 of each row."""
        counts = torch.arange(8)[None] <= torch.arange(8)[:, None]

        def step(by):
            def trained(state, micro_batches):
                weight = state["model"].weight
                for batch in micro_batches:
                    loss = by(batch["x"] * weight.view(3)[None, :, None], batch)
                    loss.backward()
                with torch.no_grad():
                    weight -= weight.grad
            return trained
        told = step(lambda x, batch: F.cross_entropy(x, batch["y"], ignore_index=2))
        masked = step(lambda x, batch: (x * batch["mask"][:, None]).sum())
        self.assertEqual(self.items(told, lambda _: {"x": torch.randn(8, 1, 8), "y": torch.where(counts, 1, 2)})["[4, 4]"],
                         [[10, 26], [10, 26]])
        self.assertEqual(self.items(masked, lambda _: {"x": torch.randn(8, 1, 8), "mask": counts.double()})["[3, 3, 2]"],
                         [[6, 15, 15], [6, 15, 15]])
        self.assertEqual(self.items(masked, lambda _: {"x": torch.randn(8, 1, 8), "mask": torch.ones(8, 8)})["None"], [])

    def test_a_clip_hides_no_weights(self):
        self.fails("1/(K n_k)", loop(lambda n, N, K: 1 / K, before=clip))

    def test_what_is_done_behind_the_last_backward_pass(self):
        def divided(state):
            for parameter in state["model"].parameters():
                parameter.grad /= state["calls"][0]

        def step(state, micro_batches):
            state["calls"] = [len(micro_batches)]
            loop(lambda n, N, K: n / N, before=divided)(state, micro_batches)
        self.fails("1/K", step)

    def test_what_is_no_one_formula_has_its_numbers(self):
        self.fails("each later counts more", loop(lambda n, N, K: n / N, behind=clip), said="a row weighs ")

    def test_a_second_pass_over_the_last_alone(self):
        verdict = varied(sharpness_aware(lambda micro_batches: micro_batches[-1:]))
        self.assertFalse(verdict.passed, verdict)

    def test_of_two_optimizers(self):
        make, step = adversarial(lambda n, N, K: 1 / K)
        self.assertFalse(varied(step, make).passed)

    def test_layers_that_see_the_batch(self):
        for layer, name in ((nn.BatchNorm1d(8), "BatchNorm1d"), (nn.BatchNorm1d(8, track_running_stats=False), "BatchNorm1d"),
                            (nn.utils.spectral_norm(nn.Linear(8, 8)), "SpectralNorm")):
            self.fails("batch_norm", RIGHT, lambda layer=layer: made(OPTIMIZERS["SGD"], copy.deepcopy(layer)), said=f"{name} model.1")
        self.fails("1/(K n_k)", MEANS, lambda: made(OPTIMIZERS["SGD"], nn.BatchNorm1d(8).eval()))

    def test_in_float32_alone_nothing_is_right_by_chance(self):
        """A gap far below float32's own rounding is none of it."""
        small = varied(loop(lambda n, N, K: n / N * (1 + (K > 1) * 2.0**-30)))
        self.assertFalse(small.passed, small)
        self.assertLess(small.gaps[-1]["in_float64"], 2.0**-24)


def noisy(weigh, draw):
    """A step that adds to its rows what `draw(x)` draws."""
    def step(state, micro_batches):
        state["optimizer"].zero_grad()
        for batch in micro_batches:
            loss = F.cross_entropy(state["model"](batch["x"] + draw(batch["x"])), batch["y"])
            (loss * weigh(len(batch["x"]), rows_of(micro_batches), len(micro_batches))).backward()
        state["optimizer"].step()
    return step


class Attention(nn.Module):
    """Over the elements of a row, which it draws for in a second dimension."""

    def __init__(self):
        super().__init__()
        self.attention, self.width = nn.MultiheadAttention(8, 2, dropout=0.2), nn.Linear(1, 8)

    def forward(self, x):
        x = self.width(x[..., None]).transpose(0, 1)
        return F.dropout(x + self.attention(x, x, x)[0], 0.1).mean(0)


class DrawnByRows(unittest.TestCase):
    LAYERS = (nn.Dropout(0.3), nn.AlphaDropout(0.3), nn.Sequential(nn.Unflatten(1, (2, 2, 2)), nn.Dropout2d(0.5), nn.Flatten()),
              Attention())
    DRAWS = (torch.rand_like, lambda x: torch.randn(len(x), 6), lambda x: torch.empty_like(x).exponential_(), lambda x: torch.bernoulli(x * 0 + 0.3),
             lambda x: torch.normal(x, 1.0), lambda x: torch.randint(2, 5, x.shape), lambda x: F.gumbel_softmax(x),
             lambda x: torch.distributions.Categorical(torch.ones(len(x), 6)).sample()[:, None], lambda x: torch.rand(6))

    def test_right_ones_pass(self):
        for layer in self.LAYERS:
            with self.subTest(layer):
                verdict = varied(RIGHT, lambda layer=layer: made(OPTIMIZERS["SGD"], copy.deepcopy(layer)))
                self.assertTrue(verdict.passed, verdict.sentence)
                self.assertIn("what bernoulli_ draws was dealt by rows", verdict.notes[0])
        for draw in self.DRAWS:
            verdict = varied(noisy(lambda n, N, K: n / N, draw))
            self.assertTrue(verdict.passed, verdict.sentence)

    def test_wrong_ones_have_their_cause(self):
        for layer in self.LAYERS:
            self.assertEqual(varied(MEANS, lambda layer=layer: made(OPTIMIZERS["SGD"], copy.deepcopy(layer))).cause, "1/(K n_k)")
        for draw in self.DRAWS:
            self.assertEqual(varied(noisy(lambda n, N, K: 1 / K, draw)).cause, "1/(K n_k)")

    def test_the_generator_is_as_it_was(self):
        torch.manual_seed(5)
        before = torch.get_rng_state()
        varied(RIGHT, lambda: made(OPTIMIZERS["SGD"], nn.Dropout(0.3)))
        self.assertTrue(torch.equal(before, torch.get_rng_state()))

    def test_what_cannot_be_dealt(self):
        dropped = varied(noisy(lambda n, N, K: n / N, lambda x: F.dropout(x.repeat(2, 1)[: len(x) + 1], 0.5)[: len(x)]))
        self.assertTrue(dropped.passed, dropped.sentence)
        self.assertEqual(dropped.notes[0], "dropout was off: what bernoulli_ draws cannot be dealt by rows")
        again = varied(noisy(lambda n, N, K: n / N, lambda x: checkpoint(lambda x: F.dropout(x, 0.5), x.requires_grad_(), use_reentrant=False)))
        self.assertTrue(again.passed, again.sentence)
        with self.assertRaisesRegex(tally_recorder.CaptureError, "draws by randperm what cannot be dealt by rows"):
            varied(noisy(lambda n, N, K: n / N, lambda x: x[torch.randperm(len(x))]))


class Decorated(unittest.TestCase):
    @tally_recorder.equivalence(make=made, data=data, rows=ROWS)
    def test_right(self, state, micro_batches):
        self.assertIsInstance(self, Decorated)
        RIGHT(state, micro_batches)

    def test_wrong(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)

        @tally_recorder.equivalence(make=made, data=data, rows=ROWS, out=folder.name)
        def test_step(state, micro_batches):
            """A step."""
            MEANS(state, micro_batches)
        self.assertEqual((test_step.__name__, test_step.__doc__), ("test_step", "A step."))
        self.assertEqual([kind.kind for kind in inspect.signature(test_step).parameters.values()], [inspect.Parameter.VAR_POSITIONAL])
        with self.assertRaisesRegex(AssertionError, "weigh each mean by its own rows"):
            test_step()


class Refused(unittest.TestCase):
    def refused(self, words, step, make=made, **options):
        with self.assertRaisesRegex(tally_recorder.CaptureError, words):
            varied(step, make, **options)

    def test_what_vary_cannot_repeat(self):
        outside = made()
        self.refused("2 windows change no tensor of what `make` returned", lambda state, micro_batches: RIGHT(outside, micro_batches))
        self.refused(f"the whole batch at once in float64 ends with KeyError at {os.path.abspath(__file__)}:[0-9]+",
                     lambda state, micro_batches: RIGHT({}, micro_batches))
        self.refused("2 windows change no tensor of what `make` returned", lambda *_: None)
        calls = []

        def drifts(state, micro_batches):
            calls.append(0)
            loop(lambda n, N, K: n / N * (1 + len(calls)))(state, micro_batches)
        self.refused("the same whole batch from the same seed ends elsewhere a second time", drifts)
        self.refused("found 6 rows in data", RIGHT, data=lambda _: {"x": torch.randn(6, 6), "y": torch.zeros(6).long()})
        self.refused("found no model and no tensor in what `make` gives", RIGHT, lambda: None)
        self.refused("found windows=0, expected a whole number of at least 1", RIGHT, windows=0)
        self.refused("holds other rows a second time", RIGHT, data=lambda _: [calls.append(0), dict(data(0), x=torch.randn(8, 6) + len(calls))][1])

    def test_what_ends_in_a_partition_alone(self):
        def step(state, micro_batches):
            RIGHT(state, micro_batches)
            if len(micro_batches) > 2:
                raise ValueError("too many")
        verdict = varied(step)
        self.assertFalse(verdict.passed)
        self.assertRegex(verdict.sentence, rf"ValueError at {__file__}:[0-9]+ .too many")

    def test_steps_that_differ(self):
        def step(state, micro_batches):
            for batch in micro_batches:
                RIGHT(state, [batch])
        self.assertEqual(varied(step).cause, "steps")

    def test_numbers_that_are_none(self):
        verdict = varied(loop(lambda n, N, K: float("nan") if K > 1 else 1.0))
        self.assertFalse(verdict.passed)
        self.assertEqual(verdict.gaps[-1]["kind"], "not finite")
        # 2^200 is no number of float32: a gap that only one of the formats shows passes no more than any other.
        verdict = varied(loop(lambda n, N, K: n / N if K == 1 else n / N * (torch.tensor(2.0**200) * 2.0**-200).item()))
        self.assertFalse(verdict.passed, verdict)
        self.assertEqual(verdict.gaps[-1]["kind"], "not finite")
        self.refused("leaves elements that are not finite", loop(lambda n, N, K: float("inf")))

    def test_a_schedule_made_in_the_step(self):
        def step(state, micro_batches):
            torch.optim.lr_scheduler.StepLR(state["optimizer"], 1)
            loop(lambda n, N, K: 1 / K)(state, micro_batches)
        self.assertEqual(varied(step, windows=1).cause, "1/(K n_k)")


if __name__ == "__main__":
    unittest.main()
