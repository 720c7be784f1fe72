#!/usr/bin/env python3
"""What `make` and `data` give is found, cast, moved and compared, whatever holds it: python3 tests/recorder/vary/vary_state_test.py"""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from varied_loops import OPTIMIZERS, RIGHT, ROWS, data, loop, made, network, rows_of, varied  # noqa: E402

from tally_recorder import CaptureError  # noqa: E402
from tally_recorder.varied.state import cast, is_flag  # noqa: E402

SHARE, SUM_OF_MEANS = (lambda n, N: n / N), (lambda n, N: 1)


class Box:
    """An object that PyTorch knows nothing of."""

    def __init__(self, parameters):
        self.sums = [torch.zeros_like(parameter) for parameter in parameters]


class Sums(torch.optim.SGD):
    def __init__(self, parameters, lr=0.1):
        super().__init__(parameters, lr)
        self.sums = [torch.zeros_like(parameter) for parameter in self.param_groups[0]["params"]]


class Counting(nn.Sequential):
    def __init__(self):
        super().__init__(network())
        self.sums = [torch.zeros_like(parameter) for parameter in self.parameters()]


def in_box():
    state = made()
    return {**state, "holder": Box(state["model"].parameters())}


def in_optimizer():
    state = made(Sums)
    return {**state, "holder": state["optimizer"]}


def in_model():
    model = Counting()
    return {"model": model, "optimizer": OPTIMIZERS["SGD"](model.parameters()), "holder": model}


def adds_up_itself(weigh):
    """In buffers of its own, of whatever holds them."""
    def step(state, micro_batches):
        sums = state["holder"].sums
        for batch in micro_batches:
            (F.cross_entropy(state["model"](batch["x"]), batch["y"]) * weigh(len(batch["x"]), rows_of(micro_batches))).backward()
            for own, parameter in zip(sums, state["model"].parameters()):
                own += parameter.grad
                parameter.grad = None
        for own, parameter in zip(sums, state["model"].parameters()):
            parameter.grad = own.clone()
            own.zero_()
        state["optimizer"].step()
        state["optimizer"].zero_grad()
    return step


def flat():
    """Parameters and gradients that are parts of one buffer each."""
    model, first = network(), 0
    values = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    gradients = torch.zeros_like(values)
    for parameter in model.parameters():
        part = slice(first, first + parameter.numel())
        parameter.data, parameter.grad, first = values[part].view_as(parameter), gradients[part].view_as(parameter), part.stop
    return {"model": model, "values": values, "gradients": gradients}


def steps_flat(weigh):
    def step(state, micro_batches):
        for batch in micro_batches:
            (F.cross_entropy(state["model"](batch["x"]), batch["y"]) * weigh(len(batch["x"]), rows_of(micro_batches))).backward()
        state["values"].sub_(0.1 * state["gradients"])
        state["gradients"].zero_()
    return step


def masked(weigh):
    """Counts items by a mask of floats."""
    def step(state, micro_batches):
        state["optimizer"].zero_grad()
        all_items = sum((batch["mask"] == 1).sum() for batch in micro_batches)
        for batch in micro_batches:
            counts = batch["mask"] == 1
            loss = (F.mse_loss(state["model"](batch["x"]), batch["t"], reduction="none") * counts).sum()
            (loss * weigh(counts.sum().clamp(min=1), all_items, len(micro_batches))).backward()
        state["optimizer"].step()
    return step


def with_mask(_):
    return {**data(_), "t": torch.randn(ROWS, 4), "mask": torch.randint(0, 2, (ROWS, 4)).float()}


class Found(unittest.TestCase):
    def test_sums_in_any_object_are_cast(self):
        for make in (in_box, in_optimizer, in_model):
            self.assertTrue(varied(adds_up_itself(SHARE), make).passed)
            self.assertEqual(varied(adds_up_itself(SUM_OF_MEANS), make).cause, "1/n_k")

    def test_an_average_in_any_object_is_compared(self):
        def average(state):
            for own, parameter in zip(state["holder"].sums, state["model"].parameters()):
                own.lerp_(parameter.detach(), 0.1)
        verdict = varied(loop(lambda n, N, K: n / N, behind=average), in_box)
        self.assertEqual((verdict.passed, verdict.cause), (False, "kept beside"))
        self.assertIn("does not: holder.sums.2 and 3 more", verdict.sentence)

    def test_tensors_of_one_memory_stay_in_it(self):
        self.assertTrue(varied(steps_flat(SHARE), flat).passed)
        self.assertEqual(varied(steps_flat(SUM_OF_MEANS), flat).cause, "1/n_k")
        one = torch.arange(6.0)
        two, three = one[2:4], one.view(2, 3)
        cast([one, two, three], torch.float64)
        three[0, 2] = 7
        self.assertEqual((two.dtype, float(two[0]), float(one[2])), (torch.float64, 7, 7))

    def test_what_is_made_on_the_way_is_named_and_not_compared(self):
        def logs(state):
            state.setdefault("seen", []).append(torch.ones(2))
        verdict = varied(loop(lambda n, N, K: n / N, behind=logs))
        self.assertTrue(verdict.passed, verdict.sentence)
        self.assertIn("not compared: tensors that the loop makes as it goes, or anew with other extents (seen.0)", verdict.notes)

    def test_complex_parameters_train(self):
        def step(state, micro_batches):
            for batch in micro_batches:
                (state["model"](batch["x"].to(state["model"].weight.dtype)).abs().sum() / rows_of(micro_batches)).backward()
            state["optimizer"].step()
            state["optimizer"].zero_grad()

        def make():
            model = nn.Linear(6, 2, dtype=torch.complex64)
            return {"model": model, "optimizer": torch.optim.SGD(model.parameters(), 0.1)}
        self.assertTrue(varied(step, make).passed)


class Moved(unittest.TestCase):
    def test_flags_stay_where_they_are(self):
        row = torch.tensor([1.0, -100.0, 0.25, 0.3, 0.25, float("inf"), float("nan")])
        self.assertEqual(is_flag(row).tolist(), [True, True, True, False, True, True, True])
        self.assertEqual([is_flag(torch.tensor(value)).item() for value in (2.0, 2.5)], [True, False])

    def test_a_mask_of_floats_hides_no_bug(self):
        self.assertTrue(varied(masked(lambda n, N, K: 1 / N), data=with_mask).passed)
        self.assertEqual(varied(masked(lambda n, N, K: 1 / (n * K)), data=with_mask).cause, "1/(K n_k)")

    def test_labels_of_floats_stay_labels(self):
        def step(state, micro_batches):
            state["optimizer"].zero_grad()
            for batch in micro_batches:
                labels = batch["label"].long()
                (F.cross_entropy(state["model"](batch["x"]), labels, reduction="sum") / rows_of(micro_batches)).backward()
            state["optimizer"].step()
        self.assertTrue(varied(step, data=lambda _: {"x": torch.randn(ROWS, 6), "label": torch.tensor([-100.0, 0, 1, 2, 3, 2, 1, 0])}).passed)

    def test_infinite_masks_are_as_they_should_be(self):
        def make():
            state = made()
            state["model"].register_buffer("mask", torch.tensor([0.0, 0.0, float("-inf"), 0.0]))
            return state

        def step(state, micro_batches):
            state["optimizer"].zero_grad()
            for batch in micro_batches:
                log = (state["model"](batch["x"]) + state["model"].mask).softmax(-1)
                (log[:, 0].sum() / rows_of(micro_batches)).backward()
            state["optimizer"].step()
        verdict = varied(step, make)
        self.assertTrue(verdict.passed, verdict.sentence)


class Computed(unittest.TestCase):
    @unittest.skipUnless(hasattr(torch, "amp") and hasattr(torch.amp, "GradScaler"), "no GradScaler of a CPU")
    def test_a_scaler_works_in_float64(self):
        def step(state, micro_batches):
            for batch in micro_batches:
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    out = state["model"](batch["x"])
                loss = F.cross_entropy(out.float(), batch["y"], reduction="sum") / rows_of(micro_batches)
                state["scaler"].scale(loss).backward()
            state["scaler"].step(state["optimizer"])
            state["scaler"].update()
            state["optimizer"].zero_grad()
        verdict = varied(step, lambda: {**made(), "scaler": torch.amp.GradScaler("cpu")})
        self.assertTrue(verdict.passed, verdict.sentence)
        self.assertFalse([note for note in verdict.notes if "cannot be had" in note])

    @unittest.skipUnless(hasattr(torch, "func"), "no torch.func")
    def test_transforms_of_torch_func_run(self):
        def step(state, micro_batches):
            held = {name: parameter.detach() for name, parameter in state["model"].named_parameters()}

            def loss(parameters, x, y):
                return F.cross_entropy(torch.func.functional_call(state["model"], parameters, (x[None],)), y[None])
            state["optimizer"].zero_grad()
            for batch in micro_batches:
                each = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))(held, batch["x"], batch["y"])
                for name, parameter in state["model"].named_parameters():
                    own = each[name].sum(0) / rows_of(micro_batches)
                    parameter.grad = own if parameter.grad is None else parameter.grad + own
            state["optimizer"].step()
        verdict = varied(step)
        self.assertTrue(verdict.passed, verdict.sentence)

    def test_a_closure_that_is_evaluated_again_is_one_step(self):
        def step(state, micro_batches):
            def closure():
                state["optimizer"].zero_grad()
                for batch in micro_batches:
                    decay = 1e-3 * sum(parameter.pow(2).sum() for parameter in state["model"].parameters())
                    loss = F.cross_entropy(state["model"](batch["x"]), batch["y"], reduction="sum") / rows_of(micro_batches) + decay
                    loss.backward()
                return loss.detach()
            state["optimizer"].step(closure)
        verdict = varied(step, lambda: made(lambda parameters: torch.optim.LBFGS(parameters, line_search_fn="strong_wolfe")))
        self.assertEqual((verdict.passed, verdict.cause), (False, "parameters added"))

    def test_a_gap_that_is_smaller_than_weights_show_has_no_cause(self):
        verdict = varied(loop(lambda n, N, K: n / N * (1 + 1e-9 * (K > 1))))
        self.assertEqual((verdict.passed, verdict.cause), (False, "unknown"))

    def test_seeding_within_a_step_is_said(self):
        def step(state, micro_batches):
            state["optimizer"].zero_grad()
            for batch in micro_batches:
                torch.manual_seed(7)
                noisy = batch["x"] + torch.randn_like(batch["x"])
                (F.cross_entropy(state["model"](noisy), batch["y"], reduction="sum") / rows_of(micro_batches)).backward()
            state["optimizer"].step()
        self.assertTrue([note for note in varied(step).notes if note.startswith("the step seeds torch's generator")])


class BadInput(unittest.TestCase):
    def test_one_sentence_each(self):
        def yields(state, micro_batches):
            yield state

        def lazy():
            model = nn.Sequential(nn.LazyLinear(4))
            return {"model": model, "optimizer": OPTIMIZERS["SGD"](model.parameters())}
        for said, options in (
                ("found list 'w' in data\\(0\\), expected rows as tensors", {"data": lambda _: {**data(_), "w": [0.1] * ROWS}}),
                ("found ndarray 'z' in data\\(0\\)", {"data": lambda _: {**data(_), "z": torch.ones(ROWS).numpy()}}),
                ("found model.0.weight without extents, expected a model that holds its numbers; call it once in `make`", {"make": lazy})):
            with self.assertRaisesRegex(CaptureError, said):
                varied(RIGHT, **options)
        with self.assertRaisesRegex(CaptureError, "found a step that yields"):
            varied(yields)

    def test_numbers_beside_the_rows_stay_whole(self):
        self.assertTrue(varied(RIGHT, data=lambda _: {**data(_), "temperature": torch.tensor(0.5)}).passed)


if __name__ == "__main__":
    unittest.main()
