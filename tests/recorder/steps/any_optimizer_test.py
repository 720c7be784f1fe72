#!/usr/bin/env python3
"""A step that no case states is judged by itself, and all the rest as ever: python3 tests/recorder/steps/any_optimizer_test.py

The program is named by the variable TALLY, or found on the PATH."""
import copy
import functools
import os
import sys
import unittest
import unittest.mock

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402

import loops  # noqa: E402
from loops import Loop, adam, adamw, rmsprop, sgd  # noqa: E402
from verdicts import FAIL, PASS, UNJUDGED, verdict_of, headline  # noqa: E402

ALGORITHM = "pass, but not judged: the optimizer's algorithm"
OWN = ("Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop", "Adafactor")


class Lamb(torch.optim.Optimizer):
    """One of a user's own."""

    def __init__(self, parameters, lr=0.02, noise=0.0):
        super().__init__(parameters, {"lr": lr, "noise": noise})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                held = self.state[parameter]
                held.setdefault("m", torch.zeros_like(parameter)).lerp_(parameter.grad, 0.1)
                by = held["m"] + group["noise"] * torch.randn_like(parameter) if group["noise"] else held["m"]
                parameter.add_(by * (parameter.norm() / (by.norm() + 1e-6)), alpha=-group["lr"])


def by_layer(net, **second):
    return [{"params": net[0].parameters()}, {"params": net[2].parameters(), **second}]


class ByItself(unittest.TestCase):
    def judged(self, loop, last=ALGORITHM, code=PASS, **options):
        found, said = verdict_of(loop.record("state", **options))
        self.assertEqual(found, code, said)
        if last:
            self.assertTrue(headline(said).endswith(last), said)
        return said

    def test_optimizers_of_pytorch(self):
        for name in OWN:
            if hasattr(torch.optim, name):
                with self.subTest(name):
                    said = self.judged(Loop(getattr(torch.optim, name)))
                    self.assertIn(f"not judged: the optimizer's algorithm (Tally states no {name}, so that each of 3 steps was run "
                                  "again by itself, in float64: the loop's end within ", said)

    def test_options_that_no_case_states(self):
        for optimizer in (adam(amsgrad=True), sgd(maximize=True, momentum=0.5), rmsprop(centered=True), adamw(amsgrad=True)):
            self.judged(Loop(optimizer))

    def test_one_of_a_users_own(self):
        self.judged(Loop(Lamb))

    def test_one_that_draws_random_numbers(self):
        ends = []
        for recorded in (True, False):
            loop = Loop(functools.partial(Lamb, noise=0.01))
            if recorded:
                said = self.judged(loop, "pass, but not judged: the optimizer's step")
                self.assertIn("steps could be run again by themselves: it draws random numbers, which are others in float64", said)
            else:
                with unittest.mock.patch("tally_recorder.capture.steps_again.StepsAgain.begins"):
                    loop.record("state")
            ends.append(copy.deepcopy(loop.net.state_dict()))
        for name, value in ends[0].items():
            self.assertTrue(torch.equal(value, ends[1][name]), name)  # the recorder draws none of its numbers

    def test_a_step_of_their_own_over_a_known_one(self):
        class Clamped(torch.optim.SGD):
            @torch.no_grad()
            def step(self, closure=None):
                super().step()
                for parameter in self.param_groups[0]["params"]:
                    parameter.clamp_(-0.2, 0.2)

        self.judged(Loop(functools.partial(Clamped, lr=0.125)))

    def test_groups_with_options_of_their_own(self):
        said = self.judged(Loop(adam(), groups=functools.partial(by_layer, lr=0.001)))
        self.assertIn("assumed: lr by group: 0.01 for model.0.weight, model.0.bias; 0.001 for model.2.weight, model.2.bias", said)
        said = self.judged(Loop(adamw(), groups=functools.partial(by_layer, weight_decay=0.5)))
        self.assertIn("(groups of parameters differ in weight_decay, so that", said)

    def test_a_key_that_no_step_reads(self):
        """Layer decay without effect."""
        said = self.judged(Loop(sgd(), groups=lambda net: [{"params": net[0].parameters(), "lr_scale": 0.5},
                                                           {"params": net[2].parameters(), "lr_scale": 1.0}]), last="pass, but look at lr_scale")
        self.assertIn("look at lr_scale: by group 0.5 for model.0.weight, model.0.bias; 1.0 for model.2.weight, model.2.bias, which "
                      "SGD does not read: in its step all groups are alike", said)

    def test_options_that_change(self):
        class Scheduled(Loop):
            def window(self, w, sizes):
                self.opt.param_groups[0]["weight_decay"] = 0.5 * (w + 1)
                super().window(w, sizes)

        said = self.judged(Scheduled(adamw(weight_decay=0.5)), "pass, but look at weight_decay; not judged: the optimizer's algorithm")
        self.assertIn("look at weight_decay: at the recorded steps it is 0.5, 1.0, 1.5", said)
        self.assertIn("windows 0 to 0, in ", said)
        self.assertIn("(weight_decay was 0.5 and is 1.0, so that each of 2 steps was", said)

    def test_options_that_change_between_the_beginning_of_a_window_and_its_step(self):
        class Scheduled(Loop):
            def step(self):
                self.opt.param_groups[0]["momentum"] -= 0.1
                super().step()

        said = self.judged(Scheduled(sgd(momentum=0.9)), last="the optimizer's algorithm, the optimizer's step")
        self.assertIn("not judged: the optimizer's step in windows 0 to 0, as its options changed", said)

    def test_parameters_of_16_bits(self):
        def tenth(parameters):
            return torch.optim.SGD(parameters, lr=0.1)

        for optimizer in (adamw(), sgd(momentum=0.5), sgd(weight_decay=0.5), tenth):
            said = self.judged(loops.in_16_bits(optimizer), "the loss beside its factor, the optimizer's algorithm")
            self.assertIn("rounds parameters of bfloat16 more than once a step", said)

    def test_a_rate_that_16_bits_round(self):
        """A power of 2 at first."""
        def schedule(optimizer):
            return torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.3)

        said = self.judged(loops.in_16_bits(sgd(), schedule=schedule), "the loss beside its factor, the optimizer's algorithm")
        self.assertIn("windows 1 to 2, in ", said)

    def test_a_step_that_evaluates_its_closure_again(self):
        class Closed(Loop):
            def window(self, w, sizes):
                def closure():
                    self.opt.zero_grad()
                    with torch.enable_grad():
                        for k, rows in enumerate(sizes):
                            self.micro_batch(w, k, rows, sizes)
                    return 0.0
                self.opt.step(closure)

        said = self.judged(Closed(functools.partial(torch.optim.LBFGS, max_iter=3)), "pass, but not judged: the optimizer's step")
        self.assertIn("0 of 6 steps could be run again by themselves: it evaluates the loop's closure within itself", said)

    @unittest.skipUnless(hasattr(torch.optim, "Adafactor"), "this PyTorch has no Adafactor")
    def test_an_epsilon_of_the_parameters_format(self):
        """It weighs in where gradients are small, and is another in float64."""
        class Small(Loop):
            def divided(self, y, target, sizes):
                return super().divided(y, target, sizes) * 1e-8

        self.judged(Small(torch.optim.Adafactor, recorded_loss=False), "the loss and its normalisation, the optimizer's algorithm")

    def test_ranks_whose_steps_may_talk_to_each_other(self):
        with unittest.mock.patch("tally_recorder.capture.steps_again.several", return_value=True):
            self.judged(Loop(torch.optim.NAdam))
            said = self.judged(Loop(Lamb), "pass, but not judged: the optimizer's step")
        self.assertIn("steps could be run again by themselves: it may talk to other ranks", said)

    def test_copies_for_which_there_is_no_room(self):
        with unittest.mock.patch("tally_recorder.capture.steps_again.free_memory", return_value=0):
            said = self.judged(Loop(torch.optim.NAdam), "pass, but not judged: the optimizer's step")
        self.assertIn("steps could be run again by themselves: copies of it in float64 need 0 MiB, and 0 are free on cpu)", said)

    def test_what_goes_wrong_behind_the_step(self):
        with unittest.mock.patch("tally_recorder.capture.steps_again.Again.compared", side_effect=KeyError("planted")):
            said = self.judged(Loop(torch.optim.NAdam), "pass, but not judged: the optimizer's step")
        self.assertIn("steps could be run again by themselves: KeyError: 'planted')", said)

    def test_known_layers(self):
        """Each window begins with the parameters that the one before left."""
        said = self.judged(Loop(torch.optim.NAdam), layers="known")
        self.assertIn("windows 2 to 2, in ", said)

    def test_a_scaler_that_skips(self):
        self.judged(Loop(torch.optim.NAdam, scale=2.0**120, overflow=1, clip=0.3))

    def test_parameters_that_are_changed_behind_a_step(self):
        class Clamped(Loop):
            def step(self):
                super().step()
                with torch.no_grad():
                    self.net[2].bias.clamp_(-0.01, 0.01)

        for optimizer in (sgd(), torch.optim.NAdam):
            said = self.judged(Clamped(optimizer), last="the optimizer's algorithm, what is changed after a step")
            self.assertIn("not judged: what changes model.2.bias after the step of window 0, such as a clamp", said)

    def test_state_that_is_emptied(self):
        class Emptied(Loop):
            def window(self, w, sizes):
                if w == 2:
                    self.opt.state.clear()
                super().window(w, sizes)

        said = self.judged(Emptied(adam()), last="the optimizer's algorithm, what is changed after a step")
        self.assertIn("not judged: what changes the state of model.0.weight (and 3 more) after the step of window 1", said)

    def test_parameters_that_the_model_does_not_have(self):
        for wrong in (None, "no zero_grad"):
            other = torch.nn.Parameter(torch.ones(4))
            loop = Loop(sgd(), groups=lambda net, other=other: [*net.parameters(), other], wrong=wrong)
            loop.loss = lambda y, target, other=other: torch.nn.functional.cross_entropy(y * other, target)
            code, said = verdict_of(loop.record("state"))
            self.assertEqual(code, FAIL if wrong else PASS, said)
            self.assertIn("assumed: model.other.0 are the optimizer's parameters that the model does not have", said)

    def test_formats_that_no_case_has(self):
        def double():
            return loops.perceptron().double()

        said = self.judged(Loop(sgd(momentum=0.9), model=double, data_format=torch.float64),
                           last="not judged: all but the optimizer's steps", code=UNJUDGED)
        self.assertIn("not judged: loss, accumulation, unscaling and clip (parameters are float64, and a case has one format", said)

    def test_copies_that_the_loop_keeps_in_fp32(self):
        class Masters(Loop):
            def window(self, w, sizes):
                super().window(w, sizes)
                with torch.no_grad():
                    for mine, copied in zip(self.net.parameters(), self.opt.param_groups[0]["params"]):
                        mine.copy_(copied)

            def step(self):
                for mine, copied in zip(self.net.parameters(), self.opt.param_groups[0]["params"]):
                    copied.grad, mine.grad = mine.grad.float(), None
                super().step()

        def masters(net):
            return [parameter.detach().float().requires_grad_() for parameter in net.parameters()]

        loop = Masters(adamw(), model=lambda: loops.perceptron().bfloat16(), data_format=torch.bfloat16, groups=masters)
        said = self.judged(loop, "not judged: all but the optimizer's steps", code=UNJUDGED)
        self.assertIn("(the optimizer steps copies of the model's parameters, whose gradients no backward pass adds up", said)

    def test_sparse_gradients(self):
        class Words(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.words, self.last = torch.nn.Embedding(10, 4, sparse=True), torch.nn.Linear(4, 4)

            def forward(self, x):
                return self.last(self.words(x.abs().long()[:, 0]))

        said = self.judged(Loop(sgd(), model=Words), last="pass, but not judged: some parameters")
        self.assertIn("not judged: model.words.weight has sparse gradients, whose order of addition no case states", said)
        alone = Loop(torch.optim.SparseAdam, model=lambda: torch.nn.Sequential(Words().words, torch.nn.Flatten()))
        alone.data = lambda rows: (torch.randint(0, 10, (rows, 1)), torch.randint(0, 4, (rows,)))
        said = self.judged(alone, last="not judged: nothing is left that a case states", code=UNJUDGED)
        self.assertIn("(Tally states no SparseAdam, so that each of 3 steps was run again", said)

    def test_what_is_stated_of_it_is_not_judged(self):
        self.judged(Loop(torch.optim.NAdam, weight_decay="none"), last="the optimizer's algorithm, what is stated of the optimizer")


if __name__ == "__main__":
    unittest.main()
