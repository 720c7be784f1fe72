#!/usr/bin/env python3
"""Transformers' Trainer, Lightning and Accelerate, recorded by a callback.

run.py makes an environment that has both and runs this with it. The program is named by the variable TALLY."""
import functools
import logging
import os
import re
import subprocess
import sys
import tempfile
import unittest
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))

from recorder_path import PACKAGE  # noqa: E402
import lightning  # noqa: E402
import pytorch_lightning  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import transformers  # noqa: E402
from accelerate import Accelerator  # noqa: E402

import data  # noqa: E402
import tally_recorder  # noqa: E402
import trainer_loops  # noqa: E402
from judged import cause  # noqa: E402

PASS, FAIL, ERROR = 0, 1, 2
WINDOWS = data.WHOLE // data.ROWS // data.K


class Said(unittest.TestCase):
    """A test with a folder, and the lines that a callback says."""

    def setUp(self):
        near = tempfile.TemporaryDirectory()
        self.addCleanup(near.cleanup)
        self.folder, self.lines = near.name, []
        warnings.simplefilter("ignore")

    def callback(self, kind, micro_batches=data.K, **options):
        return kind(micro_batches, out=os.path.join(self.folder, "out"), show=self.lines.append, **options)

    def said(self):
        return "\n".join(self.lines)


class Trainer(Said):
    def trained(self, model, rows=data.WHOLE, optimizers=(None, None), arguments=None, **options):
        """The code; the training must have come to its end."""
        callback = self.callback(tally_recorder.Callback, **options)
        trainer = trainer_loops.train_with(model, trainer_loops.Rows(rows), optimizers, [callback], **(arguments or {}))
        self.assertEqual(trainer.state.global_step, -(-rows // data.ROWS // data.K))
        self.assertIsInstance(callback, (tally_recorder.Callback, transformers.TrainerCallback))
        return callback.code

    def test_its_own_optimizer_and_schedule(self):
        self.assertEqual(self.trained(trainer_loops.CountsItems()), PASS, self.said())
        self.assertIn("assumed: clip is global_norm", self.said())
        self.assertNotIn("not judged: the loss", self.said())

    def test_an_optimizer_without_a_schedule(self):
        model = trainer_loops.CountsItems()
        self.assertEqual(self.trained(model, optimizers=(data.optimizer(model), None)), PASS, self.said())

    def test_a_famous_bug_is_named_and_the_training_goes_on(self):
        code = self.trained(trainer_loops.IgnoresItems(), arguments={"max_grad_norm": 0.0})
        self.assertEqual((code, cause(self.said())), (FAIL, "own-items"), self.said())
        self.assertRegex(self.lines[0], "^fail: every micro-batch is divided by its own items alone.*(\n  .*)+$")  # first
        self.assertIn("not judged: forward", self.lines[1])

    def test_a_short_last_batch_is_named(self):
        code = self.trained(trainer_loops.OwnLoss(), data.SHORT_BATCH, arguments={"max_grad_norm": 0.0})
        self.assertEqual((code, cause(self.said())), (FAIL, "mean-of-means"), self.said())

    def test_the_recorders_options(self):
        self.assertEqual(self.trained(trainer_loops.CountsItems(), windows=1, normalisation="sum"), FAIL, self.said())
        self.assertIn("1 window", self.said())

    def test_a_training_that_raised_is_judged_where_the_next_begins(self):
        class Raises(trainer_loops.CountsItems):
            def forward(self, x, labels=None, num_items_in_batch=None, **_):
                self.left -= 1
                if not self.left:
                    raise ValueError("the user's own")
                return super().forward(x, labels, num_items_in_batch)

        callback, model = self.callback(tally_recorder.Callback), Raises()
        for model.left, raises in ((6, True), (0, False)):
            try:
                trainer_loops.train_with(model, trainer_loops.Rows(data.WHOLE), callbacks=[callback])
                self.assertFalse(raises)
            except ValueError:
                self.assertTrue(raises)
                self.assertIsNone(callback.code)
        self.assertEqual(callback.code, PASS, self.said())
        self.assertIn("the loop ended early, by Exception: only the windows finished before that are judged", self.said().split("\n"))
        self.assertFalse(any(parameter._backward_hooks for parameter in model.parameters()))

    def test_it_is_watched(self):
        figures = []
        code = self.trained(trainer_loops.CountsItems(), 2 * data.WHOLE, watch=3, report=lambda *told: figures.append(told))
        self.assertEqual(code, PASS, self.said())
        self.assertEqual([(step, told["tally/verdict"]) for step, told in figures][:1], [(0, PASS)])

    def test_what_cannot_be_recorded_is_said_and_the_training_goes_on(self):
        self.assertEqual(self.trained(trainer_loops.CountsItems(), layers="known"), ERROR)
        self.assertRegex(self.lines[-1], "^error: ")
        self.assertEqual(self.trained(trainer_loops.CountsItems(), tally="/nowhere/tally"), ERROR)
        self.assertIn("error: tally: found /nowhere/tally", self.lines[-1])

    def test_wrong_options_are_refused_before_the_training(self):
        for options in ({"micro_batches": 0}, {"level": "most"}, {"watch": 1}, {"microbatches": 4}, {"report": print}):
            with self.subTest(options), self.assertRaises(tally_recorder.CaptureError):
                self.callback(tally_recorder.Callback, **options)


def module_of(pl):
    class Module(pl.LightningModule):
        def __init__(self, ends_at=None):
            super().__init__()
            self.net, self.ends_at = data.net(), ends_at

        def configure_optimizers(self):
            optimizer = data.optimizer(self)
            return [optimizer], [{"scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 1), "interval": "step"}]

        def training_step(self, batch, i):
            if i == self.ends_at:
                raise ValueError("the user's own")
            return F.cross_entropy(self.net(batch[0]), batch[1])
    return Module


class InLightning(Said):
    def fit(self, pl, rows=data.WHOLE, ends_at=None, logger=False, **options):
        for name in ("lightning.pytorch", "pytorch_lightning", "lightning"):
            logging.getLogger(name).setLevel(logging.ERROR)
        callback = self.callback(tally_recorder.LightningCallback, **options)
        self.assertIsInstance(callback, pl.Callback)
        trainer = pl.Trainer(max_epochs=1, accelerator="cpu", logger=logger, enable_checkpointing=False, callbacks=[callback],
                             enable_progress_bar=False, enable_model_summary=False, accumulate_grad_batches=data.K)
        trainer.fit(module_of(pl)(ends_at), data.loader(rows))
        self.assertEqual(trainer.global_step, -(-rows // data.ROWS // data.K))
        return callback.code

    def test_it_passes_under_both_names(self):
        for pl in (lightning, pytorch_lightning):
            with self.subTest(pl.__name__):
                self.assertEqual(self.fit(pl), PASS, self.said())
                self.assertNotIn("not judged: the loss", self.said())

    def test_a_short_last_batch_is_named(self):
        code = self.fit(lightning, data.SHORT_BATCH)
        self.assertEqual((code, cause(self.said())), (FAIL, "mean-of-means"), self.said())

    def test_a_training_that_raises_is_judged_up_to_there(self):
        with self.assertRaisesRegex(ValueError, "the user's own"):
            self.fit(lightning, ends_at=6)
        self.assertIn("the loop ended early, by ValueError", self.said())
        self.assertEqual(self.lines[0], "pass")

    def test_figures_go_to_the_trainers_loggers(self):
        from lightning.pytorch.loggers import CSVLogger
        logger = CSVLogger(self.folder)
        self.assertEqual(self.fit(lightning, logger=logger, watch=3), PASS, self.said())
        logger.save()
        with open(os.path.join(logger.log_dir, "metrics.csv"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r"tally/r.*tally/verdict(.|\n)*0\.\d+.*,0")

    def test_what_cannot_be_recorded_is_said_and_the_training_goes_on(self):
        self.assertEqual(self.fit(lightning, layers="known"), ERROR)
        self.assertRegex(self.lines[-1], "^error: ")


class InAccelerate(Said):
    def trained(self, divided=False, rows=data.WHOLE, **options):
        accelerator = Accelerator(gradient_accumulation_steps=data.K, cpu=True)
        net = data.net()
        model, optimizer, batches = accelerator.prepare(net, data.optimizer(net), data.loader(rows))
        callback = self.callback(functools.partial(tally_recorder.AccelerateCallback, accelerator), **options)
        accelerator.init_trackers("a run", config={})
        for x, target in batches:
            with accelerator.accumulate(model):
                loss = F.cross_entropy(model(x), target)
                accelerator.backward(loss / data.K if divided else loss)
                accelerator.log({"loss": loss.item()})
                optimizer.step()
                optimizer.zero_grad()
        accelerator.end_training()
        return callback.code

    def test_it_passes(self):
        self.assertEqual(self.trained(), PASS, self.said())
        self.assertNotIn("not judged: the loss", self.said())

    def test_famous_bugs_are_named(self):
        self.assertEqual((self.trained(divided=True), cause(self.said())), (FAIL, "over-k"), self.said())
        self.lines.clear()
        self.assertEqual((self.trained(rows=data.SHORT_BATCH), cause(self.said())), (FAIL, "mean-of-means"), self.said())

    def test_what_cannot_be_recorded_is_said_and_the_training_goes_on(self):
        self.assertEqual(self.trained(layers="known", samples=8), ERROR)
        self.assertRegex(self.lines[-1], "^error: ")


class Ranks(Said):
    """Two processes of torchrun, which are judged together."""
    SCRIPTS = {
        "Trainer": """
callback = tally_recorder.Callback(4, out="out")
trainer_loops.train_with(trainer_loops.OwnLoss(), trainer_loops.Rows(64), callbacks=[callback], ddp_backend="gloo",
                         average_tokens_across_devices=False, ddp_find_unused_parameters=False)
""",
        "Lightning": """
callback = tally_recorder.LightningCallback(4, out="out")
lightning.Trainer(max_epochs=1, accelerator="cpu", devices=2, strategy="ddp", logger=False, enable_checkpointing=False,
                  callbacks=[callback], enable_progress_bar=False, enable_model_summary=False, accumulate_grad_batches=4).fit(
    module_of(lightning)(), data.loader(64))
"""}

    def test_they_pass_and_one_speaks(self):
        for name, script in self.SCRIPTS.items():
            with self.subTest(name):
                with open(os.path.join(self.folder, "train.py"), "w", encoding="utf-8") as file:
                    file.write(f"import sys\nsys.path[:0] = {[HERE, PACKAGE]!r}\nfrom callbacks_test import *\n{script}"
                               "sys.exit(callback.code)\n")
                done = subprocess.run([sys.executable, "-B", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
                                       "train.py"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertEqual(done.stdout.count(", 2 ranks, K = 8, 2 windows, "), 1, done.stdout)


class Page(Said):
    def test_the_lines_of_the_page(self):
        with open(os.path.join(PACKAGE, "frameworks.md"), encoding="utf-8") as file:
            callbacks = re.findall(r"`Trainer\(…, callbacks=\[(tally_recorder\.\w+\(.*?\))\]\)`", file.read())
        of_trainer, of_lightning = (eval(callback) for callback in callbacks)
        for callback in (of_trainer, of_lightning):
            callback.out, callback.show = os.path.join(self.folder, "out"), self.lines.append
        trainer_loops.train_with(trainer_loops.CountsItems(), trainer_loops.Rows(data.WHOLE), callbacks=[of_trainer])
        lightning.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, callbacks=[of_lightning],
                          enable_progress_bar=False, enable_model_summary=False, accumulate_grad_batches=data.K).fit(
            module_of(lightning)(), data.loader(data.WHOLE))
        self.assertEqual((of_trainer.code, of_lightning.code), (PASS, PASS), self.said())


class Imports(unittest.TestCase):
    def test_no_framework_is_imported_before_its_callback_is_made(self):
        script = ("import sys, tally_recorder\n"
                  "tally_recorder.Callback, tally_recorder.LightningCallback\n"
                  "print([name for name in ('transformers', 'lightning', 'pytorch_lightning') if name in sys.modules])\n"
                  "tally_recorder.LightningCallback(4)\n"
                  "print('lightning' in sys.modules, 'pytorch_lightning' in sys.modules)\n")
        done = subprocess.run([sys.executable, "-B", "-c", script], env={**os.environ, "PYTHONPATH": PACKAGE}, capture_output=True,
                              text=True, check=True)
        self.assertEqual(done.stdout.splitlines(), ["[]", "True False"])


if __name__ == "__main__":
    unittest.main()
