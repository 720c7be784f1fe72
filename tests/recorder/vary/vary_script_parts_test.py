#!/usr/bin/env python3
"""What a script is run with, part by part: python3 tests/recorder/vary/vary_script_parts_test.py"""
import argparse
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from tally_recorder.varied.executor import CHUNK, differences  # noqa: E402
from tally_recorder.varied import presets  # noqa: E402
from tally_recorder.varied.casts import Casts, set_default_dtype  # noqa: E402
from tally_recorder.varied.processes import keep, kept  # noqa: E402
from tally_recorder.varied.presets import OwnValues  # noqa: E402
from tally_recorder.varied.processes import ranks_apart  # noqa: E402
from tally_recorder.varied.script import Script  # noqa: E402
from tally_recorder.varied.loaders import Dealt, row_of, rows_of  # noqa: E402

PLAIN = os.path.join(HERE, "scripts", "plain.py")


class Parts(unittest.TestCase):
    def test_where_float64_cannot_be_had(self):
        with tempfile.TemporaryDirectory() as folder, Script(PLAIN, ["--only-float32"], ["--batch-size", "{rows}"], rows=4,
                                                             folder=folder) as script:
            script.prepare()
            self.assertEqual(script.head()["precisions"], ["float32"])
            self.assertRegex(script.notes[0], "float64 cannot be had: TypeError at .*plain.py:")

    def test_a_row_is_the_same_whatever_pads_it(self):
        short, long = torch.tensor([[5, 6, 0]]), torch.tensor([[7, 8, 9, 9, 9], [5, 6, 0, 0, 0]])
        self.assertEqual(rows_of([short]), rows_of([long])[1:])
        padded, mask = torch.tensor([[9, 5, 6]]), torch.tensor([[0, 1, 1]])
        self.assertEqual(rows_of([padded, mask], mask), rows_of([torch.tensor([[5, 6]]), torch.ones(1, 2).long()], torch.ones(1, 2)))
        self.assertNotEqual(rows_of([short]), rows_of([long])[:1])

    def test_what_is_kept_is_mapped_as_it_was(self):
        left = {"odd": torch.arange(3) > 1, "wide": torch.randn(4, 3, dtype=torch.float64).t(), "one": torch.tensor(2.5), "none": torch.zeros(0, 2),
                "half": torch.ones(5).bfloat16(), "complex": torch.randn(3, dtype=torch.complex128)}
        with tempfile.TemporaryDirectory() as folder:
            keep(os.path.join(folder, "kept.bin"), left)
            mapped, scales = kept(os.path.join(folder, "kept.bin"))
        self.assertEqual({name: (value.dtype, value.shape) for name, value in mapped.items()},
                         {name: (value.dtype, value.shape) for name, value in left.items()})
        self.assertTrue(all(torch.equal(value, left[name]) for name, value in mapped.items()))
        self.assertEqual({each["max"] for each in differences(left, mapped)}, {0.0})
        self.assertEqual(differences(left, mapped, scales), differences(left, mapped))

    def test_what_ranks_do_not_have_in_common(self):
        def rank(begins=1.0, lr=0.1, steps=(1, 1)):
            return {"begins": {"w": [begins, 1.0]}, "steps": list(steps), "options": [[[{"name": "lr", "value": lr}]]]}
        self.assertEqual(ranks_apart([rank(), rank()]), "")
        self.assertEqual(ranks_apart([rank(), rank(), rank(begins=2.0)]), "rank 2 begins with another w than rank 0")
        self.assertEqual(ranks_apart([rank(), rank(steps=(1,))]), "rank 1 steps [1] times in its windows, rank 0 [1, 1] times")
        self.assertEqual(ranks_apart([rank(), rank(lr=None)]), "in window 0 rank 1 steps with lr = None, rank 0 with 0.1")  # not finite

    def test_distances_are_the_largest_of_any_chunk(self):
        one, other = torch.zeros(2 * CHUNK + 1), torch.zeros(2 * CHUNK + 1)
        one[-1], other[0], other[CHUNK] = 3.0, -8.0, 0.5
        self.assertEqual(differences({"w": one}, {"w": other}), [{"name": "w", "scale": 8.0, "max": 8.0}])
        one[CHUNK] = float("nan")
        self.assertEqual(differences({"w": one}, {"w": other}), [{"name": "w", "scale": 8.0, "max": None}])
        one[CHUNK] = other[CHUNK] = float("inf")  # a mask
        self.assertEqual(differences({"w": one}, {"w": other}), [{"name": "w", "scale": 8.0, "max": 8.0}])
        one[CHUNK] = -float("inf")
        self.assertEqual(differences({"w": one}, {"w": other}), [{"name": "w", "scale": 8.0, "max": None}])

    def test_a_tensor_holds_the_rows_that_it_was_made_of(self):
        dealt, batch = Dealt(), torch.arange(1, 13).reshape(4, 3)
        dealt.add({"ids": batch}, ["a", "b", "c", "d"], "loader", 0)
        copy, other = batch * 2, torch.ones(4)
        dealt.computed([batch], copy, False)

        def rows(*tensors):
            return "".join(dealt.rows_in(tensors).values())
        self.assertEqual([rows(batch[:, :-1]), rows(batch[1:3]), rows(copy[::2]), rows(batch.t()), rows(other), rows(copy[:1], batch[3:])],
                         ["abcd", "bc", "ac", "abcd", "", "ad"])
        dealt.computed([other, copy], other, True)
        self.assertEqual(rows(other), "abcd")
        dealt.next_window()
        self.assertEqual(rows(batch), "abcd")
        for _ in range(2):
            dealt.next_window()
        self.assertEqual(rows(batch), "")

    def test_items_are_told_apart_by_what_they_hold(self):
        items = [{"ids": [1, 2], "text": "a"}, {"ids": [1, 3], "text": "a"}, {"ids": [1, 2], "text": "b"}, (torch.ones(2), 1), (torch.ones(2), 2)]
        self.assertEqual(len({row_of(item) for item in items}), len(items))
        self.assertEqual(row_of((torch.ones(2).double(), 1)), row_of((torch.ones(2), 1)))

    def test_frameworks_are_detected_by_what_is_imported(self):
        for text, preset in (("from transformers import Trainer", "trainer"), ("import transformers\ntransformers.Trainer()", "trainer"),
                             ("from transformers import LlamaForCausalLM\nfrom accelerate import Accelerator", "accelerate"),
                             ("import lightning as L\nL.Trainer()", "lightning"), ("import deepspeed", "deepspeed"),
                             ("exec(open('configurator.py').read())", "nanogpt"), ("import torch", None), ("(", None)):
            self.assertEqual(presets.detected(text), preset, text)


OWN = """
import argparse
parser = argparse.ArgumentParser()
for name in ("--batch", "--accum", "--rate"):
    parser.add_argument(name, type=int, default=3)
args = parser.parse_args([])
{before}
accelerator = Accelerator(gradient_accumulation_steps={passed})
loader = DataLoader(data, args.batch, shuffle=True)
{behind}
"""


class OwnOfAScript(unittest.TestCase):
    """A script's own value that a preset replaces, and that it reads elsewhere."""

    def own(self, passed, before="", behind=""):
        """(what argparse gave the script, notes) with 2 rows and 5 micro-batches."""
        parses = argparse.ArgumentParser.parse_known_args
        self.addCleanup(setattr, argparse.ArgumentParser, "parse_known_args", parses)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "train.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(OWN.format(passed=passed, before=before, behind=behind))
            own = OwnValues(presets.PRESETS["accelerate"].values(2, 5), path, False)
            parser = argparse.ArgumentParser()
            for name in ("--batch", "--accum", "--rate"):
                parser.add_argument(name, type=int, default=3)
            return vars(parser.parse_args([])), list(own.notes())

    def test_an_argument_is_given_what_the_preset_says(self):
        for passed, before in (("args.accum", ""), ('vars(args)["accum"]', ""), ("k", "k = args.accum")):
            found, notes = self.own(passed, before, "loss = loss / args.accum")
            self.assertEqual((found, notes), ({"batch": 2, "accum": 5, "rate": 3}, []), passed)

    def test_what_stays_and_is_read_is_told(self):
        for passed, before in (("STEPS", "STEPS = 4"), ("config.steps", "config.steps = 4"), ("wanted // args.batch", "wanted = 8")):
            found, (note,) = self.own(passed, before, f"loss = loss / ({passed})")
            self.assertEqual(found["accum"], 3)
            self.assertTrue(note.startswith(f"the preset replaces gradient_accumulation_steps={passed} at train.py:8, but line 10 reads {passed.split()[0]} too"), note)
            self.assertIn("--set", note)

    def test_what_nothing_else_reads_is_not(self):
        for passed, before in (("STEPS", "STEPS = 4"), ("4", "")):
            self.assertEqual(self.own(passed, before, "loss = loss / 4")[1], [])


class InOneFormat(unittest.TestCase):
    def cast(self, dtype):
        self.addCleanup(set_default_dtype, torch.float32)
        self.addCleanup(setattr, torch, "set_default_dtype", set_default_dtype)
        return Casts(dtype)

    def test_all_that_is_asked_for_is_of_it(self):
        for dtype in (torch.float64, torch.float32):
            casts = self.cast(dtype)
            with casts:
                before = torch.ones(2)
                self.assertEqual(before.dtype, torch.float32)
                casts.begin()
                here = torch.ones(2, 2)
                for found in (here, here.float(), here.to(torch.bfloat16), here.half(), torch.zeros(2, dtype=torch.float32),
                              F.softmax(here, -1, dtype=torch.float32), torch.arange(3).float(), torch.randn(3), torch.rand_like(here),
                              here @ before, F.linear(before, here), torch.cat([here[0], before]), F.gumbel_softmax(before)):
                    self.assertEqual(found.dtype, dtype)
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    self.assertEqual(F.linear(here, here).dtype, dtype)
            set_default_dtype(torch.float32)

    def test_all_formats_draw_alike(self):
        drawn = {}
        for dtype in (torch.float64, torch.float32):
            casts = self.cast(dtype)
            with casts:
                casts.begin()
                torch.manual_seed(0)
                layer = torch.nn.Linear(3, 5)
                drawn[dtype] = [torch.randn(7), torch.rand(7), torch.empty(3).normal_(), torch.bernoulli(torch.full((9,), 0.5)),
                                torch.multinomial(torch.ones(4) / 4, 2), torch.normal(torch.zeros(3), torch.ones(3)),
                                torch.randperm(5), layer.weight.detach(), layer.bias.detach()]
                self.assertEqual(layer.weight.dtype, dtype)
            set_default_dtype(torch.float32)
        for one, other in zip(*drawn.values()):
            self.assertTrue(torch.equal(one, other.to(one.dtype)))

    def test_rows_are_moved_alike_in_whatever_batch(self):
        casts = Casts(torch.float64, stream=1)
        self.addCleanup(setattr, torch, "set_default_dtype", set_default_dtype)
        rows = torch.randn(6, 3)
        moved = casts.rows(rows)
        self.assertTrue(torch.equal(moved[2:], casts.rows(rows[2:])))
        self.assertFalse(torch.equal(moved, Casts(torch.float64, stream=2).rows(rows)))
        far = (moved / rows.double() - 1).abs()
        self.assertGreater(float(far.min()), 0)
        self.assertLessEqual(float(far.max()), 2.0**-24)
        self.assertTrue(torch.equal(moved, casts.rows(moved)))  # once


if __name__ == "__main__":
    unittest.main()
