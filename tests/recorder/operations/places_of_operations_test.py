#!/usr/bin/env python3
"""Where operations stand: line, module, phase and step: python3 tests/recorder/operations/places_of_operations_test.py"""
import inspect
import os
import re
import sys
import threading
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402,F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from recordings import Recorded  # noqa: E402

HERE = os.path.basename(__file__)
KNOWS_NODES = hasattr(torch._C, "_current_autograd_node")  # PyTorch 1.13 does not: a backward operation has the line of backward()


def line_with(text):
    """The number of the one line of this file that ends with these words."""
    with open(__file__, encoding="utf-8") as file:
        found, = (number for number, line in enumerate(file, 1) if line.rstrip().endswith("  # " + text))
    return found


class Inner(nn.Module):
    def forward(self, x):
        return x.sin()  # the forward line


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.linear = Inner(), nn.Linear(3, 3)
        self.blocks = nn.ModuleList([Inner(), nn.Sequential(Inner())])
        self.again = self.first

    def forward(self, x):
        x = self.again(self.linear(x))
        for block in self.blocks:
            x = block(x)
        return x.exp()  # in the outermost


class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.cosh()

    @staticmethod
    def backward(ctx, gradient):
        return gradient.tan()  # a backward of one's own


class Places(Recorded):
    def placed(self, line, text=None):
        """Asserts that an operation stands in the line that ends with this comment."""
        found = re.fullmatch(r"(.*):(\d+) in (.*)", line["where"])
        self.assertTrue(found[1].endswith(HERE), line)
        if text:
            self.assertEqual(int(found[2]), line_with(text), line)
        return found[3]

    def setUp(self):
        super().setUp()
        torch.manual_seed(1)

    def test_lines_and_modules(self):
        model = Outer()
        found = self.record(lambda: model(torch.ones(2, 3)).log().sum().backward(), model)  # the whole loss
        sines = found.called("sin.default")
        self.assertEqual([line["module"] for line in sines], ["first", "blocks.0", "blocks.1.0"])
        for line in sines:
            self.assertEqual(self.placed(line, "the forward line"), "forward")
        self.assertEqual((found.only("exp.default")["module"], found.only("addmm.default")["module"]), ("", "linear"))
        self.placed(found.only("exp.default"), "in the outermost")
        self.assertNotIn("module", found.only("log.default"))
        self.assertEqual(self.placed(found.only("log.default"), "the whole loss"), "<lambda>")
        cosines = found.called("cos.default")
        self.assertEqual({line["phase"] for line in cosines}, {"backward"})
        if KNOWS_NODES:
            self.assertEqual([line["module"] for line in cosines], ["blocks.1.0", "blocks.0", "first"])
            self.assertEqual(found.called("mm.default")[0]["module"], "linear")
            for line in cosines:
                self.placed(line, "the forward line")
        else:
            self.assertEqual({line["where"].split(":")[1].split()[0] for line in cosines}, {str(line_with("the whole loss"))})

    def test_without_a_model_there_are_no_paths(self):
        model = Outer()
        found = self.record(lambda: model(torch.ones(2, 3)).sum().backward())
        self.assertEqual({line.get("module") for line in found.operations}, {None})

    def test_phases_and_steps(self):
        model, average = nn.Linear(3, 1), torch.zeros(1, 3)
        optimizers = [torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), torch.optim.Adam(model.parameters())]

        def run():
            for _ in range(2):
                model(torch.ones(2, 3)).square().mean().backward()
                for optimizer in optimizers:
                    optimizer.step()
                with torch.no_grad():
                    average.lerp_(model.weight, 0.5)
        found = self.record(run, model)
        phases = {}
        for line in found.operations:
            phases.setdefault(line["op"][5:], []).append((line["phase"], line["step"]))
        self.assertEqual(phases["addmm.default"], [("forward", 0), ("forward", 2)])
        self.assertEqual(phases["mean.default"], [("forward", 0), ("forward", 2)])
        self.assertEqual(phases["mm.default"], [("backward", 0), ("backward", 2)])
        self.assertEqual(phases["lerp_.Scalar"][-1], ("other", 4))
        self.assertEqual(set(phases["addcdiv_.default"]), {("optimizer", 1), ("optimizer", 3)})
        self.assertIn(("optimizer", 2), phases["add_.Tensor"])

    def test_a_step_within_a_step_is_a_part_of_it(self):
        class Outside(torch.optim.Optimizer):
            def __init__(self, inside):
                super().__init__(inside.param_groups, {})
                self.inside = inside

            def step(self, closure=None):
                self.inside.step()
        weight = torch.ones(3, requires_grad=True)
        optimizer = Outside(torch.optim.SGD([weight], lr=0.1))

        def run():
            for _ in range(3):
                (weight * weight).sum().backward()
                optimizer.step()
        found = self.record(run)
        self.assertEqual([line["step"] for line in found.called("sum.default")], [0, 1, 2])
        self.assertEqual([line["step"] for line in found.called("add_.Tensor") if line["phase"] == "optimizer"], [0, 1, 2])

    def test_an_optimizer_of_ones_own_and_a_closure(self):
        class Signs(torch.optim.Optimizer):
            def __init__(self, parameters):
                super().__init__(parameters, {})

            @torch.no_grad()
            def step(self, closure=None):
                with torch.enable_grad():
                    closure()
                for parameter in self.param_groups[0]["params"]:
                    parameter.sub_(parameter.grad.sign())
        model = nn.Linear(3, 1)
        optimizer = Signs(model.parameters())
        found = self.record(lambda: optimizer.step(lambda: model(torch.ones(2, 3)).square().sum().backward()), model)
        for name, phase in (("addmm.default", "forward"), ("sum.default", "forward"), ("mm.default", "backward"), ("sign.default", "optimizer")):
            self.assertEqual({line["phase"] for line in found.called(name)}, {phase}, name)

    def test_what_a_checkpoint_runs_again_is_backward_in_its_own_line(self):
        pair = nn.Sequential(Inner(), Inner())
        for reentrant in (True, False):
            with self.subTest(reentrant=reentrant):
                found = self.record(lambda: checkpoint(pair, torch.ones(3, requires_grad=True), use_reentrant=reentrant).sum().backward(), pair)
                first, second, *again = found.called("sin.default")
                self.assertTrue(again)
                for line in found.called("sin.default"):
                    self.assertEqual(line["phase"], "backward" if line in again else "forward")
                    self.placed(line, "the forward line")
                self.assertEqual((first["module"], second["module"], again[0]["module"]), ("0", "1", "0"))
                cosines = found.called("cos.default")
                self.assertEqual([line["phase"] for line in cosines], ["backward"] * 2)
                if KNOWS_NODES:
                    self.assertEqual([line["module"] for line in cosines], ["1", "0"])
                    for line in cosines:
                        self.placed(line, "the forward line")

    def test_a_function_of_ones_own_and_a_hook(self):
        def run():
            x = torch.ones(3, requires_grad=True)
            y = Own.apply(x * 1)
            y.register_hook(lambda gradient: gradient.atan())  # a hook
            y.sum().backward()
        found = self.record(run)
        self.placed(found.only("tan.default"), "a backward of one's own")
        self.placed(found.only("atan.default"), "a hook")
        for name in ("tan.default", "atan.default"):
            self.assertEqual(found.only(name)["phase"], "backward")

    def test_what_autograd_does_not_follow_takes_no_node_s_place(self):
        def run():
            y = torch.ones(3, requires_grad=True).sin()  # followed
            torch.ones(3)  # not followed
            y.sum().backward()  # sent back
        self.placed(self.record(run).only("cos.default"), "followed" if KNOWS_NODES else "sent back")

    def test_operations_that_autograd_grad_runs(self):
        def run():
            x = torch.ones(3, requires_grad=True)
            torch.autograd.grad(x.sin().sum(), x)
        self.assertEqual(self.record(run).only("cos.default")["phase"], "backward")

    def test_a_thread_with_a_mode_of_its_own_is_told(self):
        def run():
            mode = [frame.frame.f_locals["witness"].mode for frame in inspect.stack() if "witness" in frame.frame.f_locals][0]

            def work():
                with mode:
                    torch.ones(3).sinh()
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            torch.ones(3).cosh()
        found = self.record(run)
        self.assertEqual((found.only("sinh.default")["thread"], "thread" in found.only("cosh.default")), (1, False))


if __name__ == "__main__":
    unittest.main()
