#!/usr/bin/env python3
"""The recorder ends no program that it watches, and names what passed in silence: python3 tests/recorder/loops/unharmed_loops_test.py

The program is named by the variable TALLY, or found on the PATH."""
import copy
import io
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import tally_recorder  # noqa: E402
from tally_recorder.capture import Capture  # noqa: E402
from tally_recorder.user_code import Guard  # noqa: E402
from tally_recorder.capture.losses import SeesLosses  # noqa: E402
from verdicts import ERROR, FAIL, PASS, verdict_of, headline  # noqa: E402

K = 4


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 4))


def batches(count):
    generator = torch.Generator().manual_seed(0)
    return [(torch.randn(4, 6, generator=generator), torch.randint(0, 4, (4,), generator=generator)) for _ in range(count)]


def adam_of(parameters):
    return torch.optim.AdamW(parameters, lr=1e-2)


def adam(model):
    return adam_of(model.parameters())


def trained(model, optimizer, loss=None, inside=lambda: None, before_step=lambda: None, behind_step=lambda: None, count=12,
            **options):
    """The recorder of a loop, and the loop's last loss. `loss(logits, y)` is that of a micro-batch."""
    loss = loss or F.cross_entropy
    with tally_recorder.Recorder(model, optimizer, micro_batches=K, **options) as recorder:
        inside()
        for i, (x, y) in enumerate(batches(count)):
            (loss(model(x), y) / K).backward()
            if i % K == K - 1:
                before_step()
                optimizer.step()
                optimizer.zero_grad()
                behind_step()
    return recorder


class EndsNoProgram(unittest.TestCase):
    def test_a_schedule_is_made_inside_and_lives_on(self):
        model = network()
        optimizer, made = adam(model), []
        recorder = trained(model, optimizer, inside=lambda: made.append(
            torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)), behind_step=lambda: made[0].step())
        code, said = verdict_of(recorder)
        self.assertEqual(code, PASS, said)
        before = [parameter.detach().clone() for parameter in model.parameters()]
        with unittest.mock.patch("warnings.warn") as warned:
            F.cross_entropy(model(batches(1)[0][0]), batches(1)[0][1]).backward()
            optimizer.step()
            made[0].step()
        self.assertFalse(warned.called, warned.call_args)
        self.assertFalse(all(torch.equal(a, b) for a, b in zip(before, model.parameters())))

    def test_copies_and_files_of_the_model_hold_nothing_of_the_recorder(self):
        model, copies, file = network(), [], io.BytesIO()
        optimizer = adam(model)

        def copied():
            copies[:] = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
            file.seek(0)
            torch.save(model, file)
            for each in copies:
                F.cross_entropy(each(batches(1)[0][0]), batches(1)[0][1]).backward()  # is no micro-batch

        recorder = trained(model, optimizer, behind_step=copied)
        code, said = verdict_of(recorder)
        self.assertEqual(code, PASS, said)
        # Where no recorder is installed the file is read all the same.
        whole = "" if torch.__version__.startswith("1.") else ", weights_only=False"
        script = f"import io, sys, torch; torch.load(io.BytesIO(sys.stdin.buffer.read()){whole})(torch.zeros(1, 6))"
        done = subprocess.run([sys.executable, "-c", script], input=file.getvalue(), capture_output=True, cwd="/",
                              env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"})
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    @unittest.skipUnless(hasattr(torch.Tensor, "register_post_accumulate_grad_hook"), "this PyTorch has no such hook")
    def test_a_hook_steps_and_takes_the_gradient_away(self):
        model = network()
        optimizer, left = adam(model), set(model.parameters())

        def hook(parameter):
            left.discard(parameter)
            if not left:
                left.update(model.parameters())
                optimizer.step()
                optimizer.zero_grad()

        for parameter in model.parameters():
            parameter.register_post_accumulate_grad_hook(hook)
        with tally_recorder.Recorder(model, optimizer, micro_batches=1) as recorder:
            for x, y in batches(4):
                F.cross_entropy(model(x), y).backward()
        code, said = verdict_of(recorder)
        self.assertEqual((code, headline(said)), (PASS, "pass"), said)

    @unittest.skipUnless(hasattr(torch.Tensor, "register_post_accumulate_grad_hook"), "this PyTorch has no such hook")
    def test_an_optimizer_for_each_parameter_steps_in_hooks(self):
        for right in (True, False):
            model, passes = network(), []
            optimizers = {parameter: adam_of([parameter]) for parameter in model.parameters()}

            def hook(parameter, right=right, passes=passes, optimizers=optimizers):
                if not right or len(passes) % K == K - 1:
                    optimizers[parameter].step()
                    optimizers[parameter].zero_grad()

            for parameter in model.parameters():
                parameter.register_post_accumulate_grad_hook(hook)
            with tally_recorder.Recorder(model, list(optimizers.values()), micro_batches=K) as recorder:
                for x, y in batches(12):
                    (F.cross_entropy(model(x), y) / K).backward()
                    passes.append(x)
            code, said = verdict_of(recorder)
            self.assertEqual(code, PASS if right else FAIL, said)
            self.assertEqual("a step was taken before the window's last micro-batch" in said, not right, said)

    def test_its_own_failure_narrows_the_verdict(self):
        """At the first event of window 1: window 0 is judged, and that it alone was is said."""
        for method in ("gradient", "accumulated", "backward_ends", "step_begins", "step_ends"):
            model, kept = network(), getattr(Capture, method)

            def fails(capture, *args, kept=kept):
                if capture.count >= K + 1:
                    raise RuntimeError("planted")
                return kept(capture, *args)

            with self.subTest(method), unittest.mock.patch.object(Capture, method, fails):
                recorder = trained(model, adam(model))
                code, said = verdict_of(recorder)
                self.assertEqual(code, PASS, said)
                self.assertIn("not judged: what came after window 0: the recorder itself failed in ", said)
                self.assertTrue(headline(said).endswith("pass, but not judged: later windows"), said)

    def test_it_gives_a_loop_no_weight_that_it_lost(self):
        """Known layers read weights through the recorder, which has failed by then."""
        guard, x, weight = Guard(), torch.ones(1, 2), torch.ones(3, 2)
        guard.problem = RuntimeError("planted")
        with SeesLosses(lambda *_: None, guard.listener(unittest.mock.Mock())):
            self.assertEqual(F.linear(x, weight).tolist(), [[2, 2, 2]])
            self.assertEqual(F.embedding(torch.tensor([1]), weight).tolist(), [[1, 1]])

    def test_its_failure_before_a_whole_window_is_an_error(self):
        model = network()
        with unittest.mock.patch.object(Capture, "step_begins", side_effect=RuntimeError("planted")):
            recorder = trained(model, adam(model))
        code, said = verdict_of(recorder)
        self.assertEqual(code, ERROR, said)
        self.assertIn("RuntimeError: planted", said)


class NamesWhatPassedInSilence(unittest.TestCase):
    def test_a_clip_over_nothing(self):
        for used_up in (True, False):
            model = network()
            parameters = filter(lambda parameter: parameter.requires_grad, model.parameters())
            parameters = parameters if used_up else list(parameters)
            optimizer = torch.optim.AdamW(parameters, lr=1e-2)
            code, said = verdict_of(trained(model, optimizer, before_step=lambda: nn.utils.clip_grad_norm_(parameters, 0.05)))
            self.assertEqual(code, FAIL if used_up else PASS, said)
            self.assertEqual("got no parameters" in said, used_up, said)

    def test_an_option_that_was_replaced(self):
        model = network()
        optimizer = adam(model)
        self.assertNotIn("has replaced", verdict_of(trained(model, optimizer))[1])
        optimizer.param_groups[0]["betas"] = (0.9, 0.99)
        said = verdict_of(trained(model, optimizer))[1]
        self.assertIn("look at betas: it is (0.9, 0.99) in the groups of an optimizer that was made with (0.9, 0.999)", said)

    def test_which_parameters_decay(self):
        model = network()
        decays, rests = [model[0].weight, model[0].bias, model[2].weight], [model[2].bias]
        optimizer = torch.optim.AdamW([{"params": decays, "weight_decay": 0.1}, {"params": rests, "weight_decay": 0.0}], lr=1e-2)
        said = verdict_of(trained(model, optimizer))[1]
        self.assertIn("assumed: weight_decay by group: 0.1 for model.0.weight, model.0.bias, model.2.weight; 0.0 for "
                      "model.2.bias", said)
        for words, code in ((["norm"], ERROR), (["model.2.bia"], ERROR), (["model.2.bias"], PASS), (["bias"], FAIL)):
            stated = {"kind": "decoupled", "lambda": 0.1, "exclude": words}
            found, said = verdict_of(trained(model, optimizer, weight_decay=stated))
            self.assertEqual(found, code, said)
            if code == ERROR:
                self.assertIn(f"error: weight_decay: found {words[0]!r} in exclude, which names no parameter", said)

    def test_a_term_that_sends_nothing_back(self):
        def with_bonus(with_gradient):
            def loss(logits, y):
                with torch.set_grad_enabled(with_gradient):
                    p = logits.softmax(-1)
                    entropy = -(p * p.log()).sum(-1).mean()
                return F.cross_entropy(logits, y) - 0.1 * entropy
            return loss

        def logged(logits, y):
            with torch.no_grad():
                logits.softmax(-1).max().item()
            return F.cross_entropy(logits, y) - 0.1
        for loss, silent in ((with_bonus(False), True), (logged, False)):
            model = network()
            said = verdict_of(trained(model, adam(model), loss))[1]
            self.assertEqual(f"not judged: a term of the loss at {os.path.abspath(__file__)}:" in said, silent, said)
            self.assertEqual(headline(said).endswith("pass, but not judged: a term of the loss"), silent, said)

    def test_parameters_that_train_later(self):
        model = network()
        model[0].requires_grad_(False)
        recorder = trained(model, adam(model), behind_step=lambda: model[0].requires_grad_(True))
        said = verdict_of(recorder)[1]
        self.assertIn("not judged: model.0.weight (and 1 more) was frozen when the recorder was made and trains since", said)
        self.assertTrue(headline(said).endswith("pass, but not judged: some parameters"), said)

    def test_autocast_around_the_loop(self):
        for around in (True, False):
            model = network()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
            forward, cast = model.forward, torch.autocast("cpu", dtype=torch.bfloat16)

            def in_autocast(x, forward=forward):
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    return forward(x)
            model.forward = forward if around else in_autocast
            with cast if around else torch.enable_grad():
                recorder = trained(model, optimizer, loss=lambda logits, y: F.cross_entropy(logits.float(), y))
            code, said = verdict_of(recorder)
            self.assertEqual(code, FAIL if around else PASS, said)
            self.assertEqual("as it was before the last step: autocast keeps its casts" in said, around, said)

    def test_the_saved_capture_says_what_it_leaves_out(self):
        model = network()
        recorder, lines = trained(model, adam(model), loss=lambda logits, y: (logits - 1).square().mean()), []
        with tempfile.TemporaryDirectory() as folder:
            recorder.check(folder, show=lines.append)
            said = subprocess.run([tally_recorder.verdict.command(None), "check", os.path.join(folder, "case.json"),
                                   os.path.join(folder, "trace.safetensors")], capture_output=True, text=True).stdout
        self.assertTrue(headline(lines[-1]).endswith("pass, but not judged: the loss and its normalisation"), lines)
        self.assertTrue(headline(said).endswith("pass, but not judged: the loss and its normalisation"), said)


if __name__ == "__main__":
    unittest.main()
