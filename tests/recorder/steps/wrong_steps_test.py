#!/usr/bin/env python3
"""What is wrong in a step that no case states, and in front of one, is named: python3 tests/recorder/steps/wrong_steps_test.py

The program is named by the variable TALLY, or found on the PATH."""
import functools
import os
import sys
import unittest
import unittest.mock

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402

import loops  # noqa: E402
from loops import Loop, adam, sgd  # noqa: E402
from verdicts import FAIL, verdict_of  # noqa: E402


def tampered(optimizer):
    """Other code writes to a parameter while the step runs."""
    def made(parameters):
        found = optimizer(parameters)
        step = found.step

        @torch.no_grad()
        def other_step():
            step()
            found.param_groups[0]["params"][3].mul_(1.01)
        found.step = other_step
        return found
    return made


class Wrong(unittest.TestCase):
    def failed(self, loop, **options):
        code, said = verdict_of(loop.record("state", **options))
        self.assertEqual(code, FAIL, said)
        return said

    def test_the_rest_is_judged_as_ever(self):
        for wrong, options in (("mean of means", {"windows": loops.UNEQUAL}), ("no zero_grad", {}), ("step per micro-batch", {}),
                               ("clip per micro-batch", {"clip": 0.1}), ("clip before unscale", {"clip": 0.3, "scale": 1024.0}),
                               ("tail by the configured K", {"windows": loops.TAIL})):
            with self.subTest(wrong):
                said = self.failed(Loop(torch.optim.NAdam, wrong=wrong, **options))
                self.assertEqual(loops.cause(said), loops.CAUSES[wrong], said)

    def test_of_formats_that_no_case_has(self):
        said = self.failed(Loop(tampered(sgd()), model=lambda: loops.perceptron().double(), data_format=torch.float64))
        self.assertIn("fail: window 0, the step of SGD: model.2.bias ends ", said)

    def test_other_code_writes_to_a_parameter(self):
        for optimizer in (torch.optim.NAdam, adam(amsgrad=True)):
            said = self.failed(Loop(tampered(optimizer)))
            self.assertRegex(said, r"fail: window 0, the step of \w+: model.2.bias ends [0-9.e-]+ from the same step in float64, where "
                                   r"rounding explains [0-9.e-]+; .* or other code writes to parameters or state while it steps \(and ")

    def test_a_kernel_that_is_wrong(self):
        module = sys.modules["torch.optim.adagrad"]
        right = module._multi_tensor_adagrad

        def wrong(*args, lr, **named):
            right(*args, lr=lr * 1.1, **named)
        with unittest.mock.patch.object(module, "_multi_tensor_adagrad", wrong):
            said = self.failed(Loop(functools.partial(torch.optim.Adagrad, foreach=True)))
        self.assertIn("a kernel (foreach, fused) is wrong", said)

    def test_arithmetic_that_is_wrong_in_its_own_format(self):
        class Coarse(torch.optim.Optimizer):
            def __init__(self, parameters):
                super().__init__(parameters, {})

            @torch.no_grad()
            def step(self, closure=None):
                for parameter in self.param_groups[0]["params"]:
                    by = 0.1 if parameter.dtype == torch.float64 else 0.11
                    parameter.sub_(parameter.grad, alpha=by)

        self.assertIn("its arithmetic there is wrong or too coarse", self.failed(Loop(Coarse)))


if __name__ == "__main__":
    unittest.main()
