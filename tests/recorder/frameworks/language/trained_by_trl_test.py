#!/usr/bin/env python3
"""Language models of Transformers trained by TRL, whose loss makes no logits.

run.py makes an environment that has both and runs this with it. The program is named by the variable TALLY."""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import recorder_path  # noqa: E402, F401
import language_models as models  # noqa: E402
import trl_loops  # noqa: E402
from judged import cause, recorded_by, verdict  # noqa: E402

PASS, FAIL, ERROR = 0, 1, 2


class TrainedByTrl(unittest.TestCase):
    """SFTTrainer, whose head is one with its loss: the two are judged together, as no logits are there."""

    def judged(self, model, **options):
        return verdict(trl_loops.train(recorded_by("all", layers="known", normalisation="window_items"), model, **options))

    def test_it_passes_as_shipped(self):
        for model in (models.llama(), models.llama(tie_word_embeddings=True), models.qwen2()):
            for padding_free in (False, True):
                with self.subTest(type(model).__name__, padding_free=padding_free):
                    code, said = self.judged(model, padding_free=padding_free)
                    self.assertEqual(code, PASS, said)
                    self.assertIn("cast..loss", said)

    def test_a_gradient_of_the_fused_function_is_named(self):
        for of, place in enumerate(("backward/d.lm_head.x", "backward/d.lm_head.weight")):
            with self.subTest(place), trl_loops.off_by_a_hundredth(of):
                code, said = self.judged(models.llama())
                self.assertEqual(code, FAIL, said)
                self.assertIn(f"first wrong: w0/m0/{place}[", said)

    def test_labels_that_gpt2_counts_before_the_shift_are_named(self):
        code, said = self.judged(models.gpt2())
        self.assertEqual((code, cause(said)), (FAIL, "tokens-counted-before-shift"), said)

    def test_another_loss_is_refused(self):
        """Which weighs each token by its probability."""
        code, said = self.judged(models.llama(), loss_type="dft")
        self.assertEqual(code, ERROR, said)
        self.assertIn("it weighs its rows differently", said)


if __name__ == "__main__":
    unittest.main()
