#!/usr/bin/env python3
"""Why a loop that is varied fails: python3 tests/recorder/vary/vary_causes_test.py"""
import json
import os
import sys
import tempfile
import traceback
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from varied_loops import RIGHT, ROWS, Varied, clip, data, loop, made, rows_of, varied  # noqa: E402

import tally_recorder  # noqa: E402
from tally_recorder.user_code import own_frame  # noqa: E402


class Causes(Varied):
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

    def test_options_that_differ_are_named(self):
        def rated(state, micro_batches):
            state["optimizer"].param_groups[0]["lr"] = 0.1 * len(micro_batches)
            RIGHT(state, micro_batches)
        self.fails("options", rated, said="step 0 of window 0 uses lr = 0.2, the whole batch's uses 0.1")

    def test_gradients_that_nobody_clears(self):
        """Nothing of it differs with the micro-batches; what was scaled in between was meant."""
        def kept(scale):
            def step(state, micro_batches):
                for parameter in state["model"].parameters():
                    if scale != 1 and parameter.grad is not None:
                        parameter.grad.mul_(scale)
                for batch in micro_batches:
                    (F.cross_entropy(state["model"](batch["x"]), batch["y"], reduction="sum") / ROWS).backward()
                clip(state)
                state["optimizer"].step()
            return step
        self.fails("stale gradient", kept(1), said="1 times window 0's gradient")
        self.passes(kept(0.5))

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

    def test_a_place_is_the_innermost_of_the_program(self):
        of_torch = os.path.dirname(torch.__file__)
        frames = [traceback.FrameSummary(name, 1, "f") for name in ("train.py", f"{of_torch}tune/recipe.py", f"{of_torch}/nn/linear.py",
                                                                    tally_recorder.__file__, "<string>")]
        self.assertEqual([own_frame(frames[first:]) for first in range(3)], [frames[0], frames[1], None])

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

    def test_counts_that_nobody_saw(self):
        """Live rows, by a loss of one's own."""
        def live(batch):
            return (batch["x"][:, 0] > 0).to(batch["x"].dtype)

        def step_of(divided):
            def step(state, micro_batches):
                state["optimizer"].zero_grad()
                for batch in micro_batches:
                    error = (state["model"](batch["x"]) ** 2).sum(1) * live(batch)
                    (error.sum() / divided(live(batch).sum().clamp(min=1), len(micro_batches))).backward()
                state["optimizer"].step()
            return step
        self.fails("1/(K n_k)", step_of(lambda own, K: own * K), said="divided by its own items and by K = 2; divide each sum by all that counts")
        self.fails("1/n_k", step_of(lambda own, K: own), said="divided by its own items, and all are added up")

    def test_terms_of_a_loss(self):
        """One of two has a normaliser of its own, or reads no row."""
        def live(batch):
            return (batch["x"][:, 0] > 0).to(batch["x"].dtype)

        def step_of(second, passes=1):
            def step(state, micro_batches):
                state["optimizer"].zero_grad()
                everywhere = sum(live(batch).sum() for batch in micro_batches)
                for batch in micro_batches:
                    out = state["model"](batch["x"])
                    one = F.cross_entropy(out, batch["y"], reduction="sum") / ROWS
                    two = 0.5 * second(state, batch, out, live(batch), everywhere, len(micro_batches))
                    for loss in (one, two) if passes == 2 else (one - two,):
                        loss.backward(retain_graph=True)
                state["optimizer"].step()
            return step

        def errors(out, own):
            return F.mse_loss(out * own[:, None], out.detach().flip(1) * own[:, None], reduction="sum")

        def own_mean(state, batch, out, own, everywhere, K):
            return errors(out, own) / own.sum().clamp(min=1) / K

        def of_all(state, batch, out, own, everywhere, K):
            return errors(out, own) / everywhere

        def penalty(state, batch, out, own, everywhere, K):
            return state["model"][0].bias.sum()
        for passes in (1, 2):
            self.fails("1/(K n_k)", step_of(own_mean, passes), said="one of the loss's 2 terms, is wrong and the other is right: each micro-batch's "
                       "loss is divided by its own items and by K = 2")
            self.passes(step_of(of_all, passes))
        verdict = self.fails("a term of no row", step_of(penalty), said="it counts 2 times")
        self.assertRegex(verdict.sentence, r"^sum at .*vary_causes_test.py:\d+, one of the loss's 2 terms")
        self.assertRegex(varied(step_of(own_mean)).sentence, r"^mse_loss at .*vary_causes_test.py:\d+, one of")

        def of_both(state, micro_batches):
            """A term in which rows see each other is no sum."""
            state["optimizer"].zero_grad()
            for batch in micro_batches:
                out = state["model"](batch["x"])
                share = len(out) / ROWS
                (F.cross_entropy(out, batch["y"]) * share + (out.mean(0) ** 2).sum() * share).backward()
            state["optimizer"].step()
        self.fails("rows see each other", of_both)

    def test_a_scale_that_is_no_count(self):
        def rooted(state, micro_batches):
            state["optimizer"].zero_grad()
            for batch in micro_batches:
                loss = (state["model"](batch["x"]) ** 2).sum(1).mean().sqrt()
                (loss * len(batch["x"]) / rows_of(micro_batches)).backward()
            state["optimizer"].step()
        self.fails("a scale of its own", rooted, said="a number of its own that is not a count")

        def over_itself(state, micro_batches):
            state["optimizer"].zero_grad()
            for batch in micro_batches:
                loss = F.cross_entropy(state["model"](batch["x"]), batch["y"])
                (loss / loss.detach() * len(batch["x"]) / rows_of(micro_batches)).backward()
            state["optimizer"].step()
        self.fails("a scale of its own", over_itself)

    def test_an_order_and_who_is_silent(self):
        def unscaled(state):
            for parameter in state["model"].parameters():
                parameter.grad /= 128
        self.fails("each later counts more", loop(lambda n, N, K: 128 * n / N, behind=unscaled))

        def first_skipped(state, micro_batches):
            state["optimizer"].zero_grad()
            for batch in micro_batches[len(micro_batches) > 1:]:
                (F.cross_entropy(state["model"](batch["x"]), batch["y"], reduction="sum") / ROWS).backward()
            state["optimizer"].step()
        self.fails("0", first_skipped, said="micro-batch 0 of 2 leaves nothing")

    def test_items_by_which_a_partition_that_passes_would_fail(self):
        """Labels that count go 21:7 with 6, 2 rows, and 16:12 with 4, 4, which pass."""
        def step(state, micro_batches):
            state["optimizer"].zero_grad()
            for batch in micro_batches:
                loss = F.cross_entropy(state["model"](batch["x"]).repeat_interleave(6, 0), batch["y"].flatten(), reduction="sum")
                (loss / len(batch["x"]) / len(micro_batches)).backward()
            state["optimizer"].step()

        def labels(window):
            y = data(window)["y"][:, None].repeat(1, 6)
            for row, count in enumerate((6, 4, 3, 3, 3, 2, 4, 3)):
                y[row, count:] = -100
            return {"x": data(window)["x"], "y": y}
        self.fails("1/(K n_k)", step, data=labels, said="divided by its own 2 rows and by K = 2")

    def test_what_is_done_behind_the_last_backward_pass(self):
        def divided(state):
            for parameter in state["model"].parameters():
                parameter.grad /= state["calls"][0]

        def step(state, micro_batches):
            state["calls"] = [len(micro_batches)]
            loop(lambda n, N, K: n / N, before=divided)(state, micro_batches)
        self.fails("1/K", step)


if __name__ == "__main__":
    unittest.main()
