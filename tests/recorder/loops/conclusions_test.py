#!/usr/bin/env python3
"""What a verdict says first: the right cause of a failure, what a pass leaves open, and what to do next: python3 tests/recorder/loops/conclusions_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402

import loops  # noqa: E402
import tally_recorder  # noqa: E402
from loops import Loop, adam, adamw, sgd  # noqa: E402
from tally_recorder.verdict import failed, passed  # noqa: E402
from verdicts import FAIL, PASS, headline, verdict_of  # noqa: E402

NADAM, VARY = torch.optim.NAdam, "python -m tally_recorder vary"


def details(said):
    """The verdict and what belongs to it."""
    return said[said.rindex(headline(said)):].splitlines()


class Behind(Loop):
    """Does something to its gradients behind the step."""

    def __init__(self, change, **options):
        super().__init__(**options)
        self.change = change

    def step(self):
        super().step()
        self.change(self.net)


def clips_to(limit):
    return lambda net: nn.utils.clip_grad_norm_(net.parameters(), limit)


def clamps_to(limit):
    return lambda net: nn.utils.clip_grad_value_(net.parameters(), limit)


def halves(net):
    for parameter in net.parameters():
        parameter.grad.mul_(0.5)


def clears(net):
    for parameter in net.parameters():
        parameter.grad.zero_()


class BehindTheStep(unittest.TestCase):
    def test_a_clip_is_the_one_cause(self):
        for clip in (clips_to(0.01), clamps_to(0.001)):
            for optimizer in (sgd(momentum=0.9), NADAM):
                for level in ("parameters", "state", "window"):
                    with self.subTest(level=level):
                        code, said = verdict_of(Behind(clip, optimizer=optimizer).record(level))
                        self.assertEqual((code, said.count("fail: ")), (FAIL, 1), said)
                        self.assertRegex(headline(said), r"fail: clip_grad_\w+_\(0.0.*\) at \S*conclusions_test.py:\d+ comes after the step, and "
                                                         r"clips gradients that no step reads; call it before optimizer.step\(\)")

    def test_a_clip_before_the_step_is_none(self):
        self.assertEqual(headline(verdict_of(Loop(clip=0.01).record("state"))[1]), "pass")

    def test_a_clip_that_clipped_nothing_is_to_be_looked_at(self):
        for clip in (clips_to(1e6), clamps_to(1e6)):
            code, said = verdict_of(Behind(clip).record("state"))
            self.assertEqual((code, headline(said)), (PASS, "pass, but look at a clip"), said)
            self.assertIn("comes after the step that it should limit", details(said)[1])

    def test_another_change_is_to_be_looked_at(self):
        code, said = verdict_of(Behind(halves).record("state"))
        self.assertEqual((code, headline(said)), (PASS, "pass, but look at a change after the step"), said)
        self.assertRegex(details(said)[1], rf"at \S*conclusions_test.py:{halves.__code__.co_firstlineno + 2}, where no step reads")
        self.assertEqual(headline(verdict_of(Behind(clears).record("state"))[1]), "pass")


class NotCleared(unittest.TestCase):
    def test_in_the_first_window_that_is_recorded(self):
        for optimizer, options in ((sgd(), {"start": 1}), (adam(), {"start": 1, "windows": 1, "every": 2}), (NADAM, {"start": 1})):
            code, said = verdict_of(Loop(optimizer, wrong="no zero_grad").record("state", **options))
            self.assertEqual(code, FAIL, said)
            self.assertIn("fail: window 1 begins with gradients of earlier windows, model.0.weight and 3 more: clear gradients after every "
                          "step, optimizer.zero_grad(); looks like missing-zero-between-windows", said)

    def test_changed_behind_the_step(self):
        code, said = verdict_of(Behind(halves, wrong="no zero_grad").record("state"))
        self.assertEqual(code, FAIL, said)
        self.assertTrue(headline(said).startswith("fail: window 1 begins with gradients of earlier windows"), said)
        self.assertNotIn("added once more", said)

    def test_what_the_program_names_it_names_once(self):
        code, said = verdict_of(Loop(wrong="no zero_grad").record("state"))
        self.assertEqual(code, FAIL, said)
        self.assertEqual(headline(said), "fail: gradients are not cleared between windows: each window adds to the "
                                         "sum of the one before")
        self.assertNotIn("also: ", said)


class Early(unittest.TestCase):
    """Steps before the last micro-batch of a window."""

    @staticmethod
    def stepping(steps, micro_batches=2):
        """The headline of a loop that steps where `steps(i)` holds, and clears there."""
        torch.manual_seed(1)
        net, drawn = nn.Linear(4, 3), torch.Generator().manual_seed(2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        with tally_recorder.Recorder(net, optimizer, micro_batches=micro_batches) as recorder:
            for i in range(7):
                x, y = torch.randn(2, 4, generator=drawn), torch.randint(0, 3, (2,), generator=drawn)
                (nn.functional.cross_entropy(net(x), y) / 2).backward()
                if steps(i):
                    optimizer.step()
                    optimizer.zero_grad()
        code, said = verdict_of(recorder)
        return code, headline(said)

    def test_off_by_one(self):
        code, said = self.stepping(lambda i: i % 2 == 0)
        self.assertEqual(code, FAIL, said)
        self.assertTrue(said.startswith("fail: window 0, after micro-batch 0 of 2: a step was taken before the window's last"), said)
        self.assertIn("`(i + 1) % K == 0`", said)

    def test_at_an_epochs_end(self):
        code, said = self.stepping(lambda i: i in (1, 3, 4, 6))
        self.assertEqual(code, FAIL, said)
        self.assertTrue(said.startswith("fail: window 2, after micro-batch 0 of 2: a step was taken, as at an epoch's end"), said)
        self.assertIn("micro_batches=[2] * 2 + [1], and divide", said)


class Schedules(unittest.TestCase):
    @staticmethod
    def cycled(optimizer):
        return torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.25, total_steps=100)

    @staticmethod
    def warmed(optimizer):
        kinds = torch.optim.lr_scheduler
        return kinds.SequentialLR(optimizer, [kinds.LinearLR(optimizer, 0.1, total_iters=2), kinds.CosineAnnealingLR(optimizer, 8)], [2])

    def test_one_that_moves_with_every_micro_batch(self):
        for optimizer in (sgd(momentum=0.9), adamw(), NADAM):
            for windows in (loops.EQUAL, [[4, 4]] * 4):
                code, said = verdict_of(Loop(optimizer, windows=windows, schedule=self.cycled, wrong="schedule per micro-batch").record("state"))
                self.assertEqual(code, FAIL, said)
                self.assertRegex(headline(said), r"fail: OneCycleLR moved lr \d times before the step of window \d, with every micro-batch, at "
                                                 r"\S*loops.py:\d+: .* looks like sched-per-microbatch")

    def test_what_the_program_names_it_names_once(self):
        code, said = verdict_of(Loop(schedule=loops.halved, wrong="schedule per micro-batch").record("state"))
        self.assertEqual((code, headline(said)), (FAIL, "fail: the schedule steps once per micro-batch"), said)

    def test_one_that_moves_once_a_window(self):
        for schedule in (self.cycled, self.warmed, loops.halved):
            for windows in (loops.EQUAL, [[4, 4]] * 4, [[4]] * 4):
                code, said = verdict_of(Loop(adam(), windows=windows, schedule=schedule).record("state"))
                self.assertEqual(code, PASS, said)

    def test_skipped_windows_and_a_schedule_that_moves_once_each(self):
        for windows in (loops.EQUAL, [[4, 4]] * 4):
            loop = Loop(sgd(momentum=0.9), windows=windows, scale=2.0**120, overflow=1, schedule=loops.halved)
            self.assertEqual(verdict_of(loop.record("state"))[0], PASS)


class Conspicuous(unittest.TestCase):
    def test_vectors_of_which_some_decay(self):
        def groups(net):
            return [{"params": [*net[0].parameters(), net[2].weight], "weight_decay": 0.1}, {"params": [net[2].bias], "weight_decay": 0.0}]

        code, said = verdict_of(Loop(adamw(), groups=groups).record("state"))
        self.assertEqual((code, headline(said)), (PASS, "pass, but look at weight_decay"), said)
        self.assertIn("model.0.bias decay as matrices do, model.2.bias do not", details(said)[1])
        decay = {"kind": "decoupled", "lambda": 0.1, "exclude": ["model.2.bias"]}
        self.assertEqual(headline(verdict_of(Loop(adamw(), groups=groups, weight_decay=decay).record("state"))[1]), "pass")
        self.assertEqual(headline(verdict_of(Loop(adamw(), groups=loops.without_decay_of_biases).record("state"))[1]), "pass")

    def test_what_to_do_next_stands_below_what_is_left_open(self):
        code, said = verdict_of(Loop(NADAM).record("state"))
        self.assertEqual(code, PASS, said)
        self.assertIn("the optimizer's algorithm (Tally states no NAdam", details(said)[1])
        self.assertIn(VARY, details(said)[-1])


class Words(unittest.TestCase):
    LOSS, PARAMETER = "not judged: the loss and its normalisation (none was seen)", "not judged: a.weight is in no group of the optimizer"

    def test_a_pass_with_nothing_left_open(self):
        self.assertEqual(passed("pass", ["assumed: clip is none"]), "pass")

    def test_parameters_stand_before_the_loss_and_advice_last(self):
        said = passed("pass", [self.LOSS, self.PARAMETER, "to have the loss at train.py:9 judged, say what counts"]).splitlines()
        self.assertEqual(said, ["pass, but not judged: the loss and its normalisation, some parameters",
                                "  a.weight is in no group of the optimizer", "  the loss and its normalisation (none was seen)",
                                "  next: to have the loss at train.py:9 judged, say what counts"])

    def test_what_to_look_at_is_said_once(self):
        said = passed("pass", ["look at lr: it changed", "look at betas: they are others", "look at lr: it changed again"]).splitlines()
        self.assertEqual(said[:2], ["pass, but look at lr, betas", "  it changed"])

    def test_one_verdict_with_what_else_is_wrong_below(self):
        guessed = "table\nfail: a guess\n  change: that\n  first wrong: w0/x"
        self.assertEqual(failed(1, guessed, ["seen"]).splitlines(),
                         ["table", "fail: seen", "  also: a guess", "    change: that", "    first wrong: w0/x"])
        self.assertEqual(failed(1, f"{guessed}; looks like last-only (all)", ["seen; looks like last-only"]),
                         f"{guessed}; looks like last-only (all)")
        self.assertEqual(failed(1, "table\nfail: no cause is known\n  first wrong: w0/x", ["seen"]).splitlines(),
                         ["table", "fail: seen", "  first wrong: w0/x"])
        self.assertEqual(failed(0, "table\npass", ["one", "two"]).splitlines(), ["table", "fail: one", "  also: two"])


if __name__ == "__main__":
    unittest.main()
