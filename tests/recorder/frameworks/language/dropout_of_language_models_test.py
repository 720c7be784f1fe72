#!/usr/bin/env python3
"""Language models in training with dropout are judged layer by layer: what they drop is seen and changes no bit of the
training, and bugs in it are named with their layer.

run.py makes an environment that has Transformers and runs this with it. The program is named by the variable TALLY."""
import contextlib
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import recorder_path  # noqa: E402, F401
import data  # noqa: E402
import dropout_of_language_models as drops  # noqa: E402
import language_models as models  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import trainer_loops  # noqa: E402
import trl_loops  # noqa: E402
from tally_recorder import CaptureError  # noqa: E402
from judged import cause, recorded_by, verdict  # noqa: E402

PASS, FAIL, ERROR = 0, 1, 2
RATE = 0.1
LAYOUTS = {"padded": models.padded, "padded on the left": drops.padded_on_the_left, "packed": models.packed}


def recorded(model, batches, level="all"):
    return models.train(recorded_by(level, layers="known", normalisation="window_items"), model, batches)


def judged(model, batches, level="all", options=()):
    return verdict(recorded(model, batches, level), options)


class RightLoops(unittest.TestCase):
    def passes(self, model, batches, **options):
        code, said = judged(model, batches, **options)
        self.assertEqual(code, PASS, said)
        self.assertNotIn("the model is opaque", said)
        self.assertTrue(said.endswith("\npass\n"), said)
        return said

    def test_gpt2_as_shipped_passes(self):
        self.assertEqual(drops.AS_SHIPPED, {"embd_pdrop": RATE, "resid_pdrop": RATE, "attn_pdrop": RATE})
        for attention in ("eager", "sdpa"):
            for layout, batches in LAYOUTS.items():
                with self.subTest(attention=attention, layout=layout):
                    self.passes(drops.gpt2(attn_implementation=attention), batches())

    def test_attention_of_other_families_passes(self):
        for family in (models.llama, models.mistral, models.qwen2, models.gemma):
            for attention in ("eager", "sdpa"):
                for batches in (models.padded("left"), models.packed()):
                    with self.subTest(family.__name__, attention=attention):
                        self.passes(family(attention_dropout=RATE, attn_implementation=attention), batches)

    def test_checkpoints_pass(self):
        for attention in ("eager", "sdpa"):
            for reentrant in (False, True):
                model = drops.gpt2(attn_implementation=attention)
                with self.subTest(attention=attention, reentrant=reentrant):
                    said = self.passes(drops.checkpointed(model, use_reentrant=reentrant), models.padded())
                    self.assertNotIn("second forward pass", said)

    def test_adapters_pass(self):
        for batches in (models.padded(), models.packed()):
            self.passes(models.adapted(lora_dropout=RATE), batches)
        model = models.adapted(lora_dropout=RATE)
        model.enable_input_require_grads()
        self.passes(drops.checkpointed(model, use_reentrant=False), models.padded())

    def test_rates_whose_factor_rounds_otherwise_in_fp32_pass(self):
        """1 / (1 - p), divided in fp32, is not the nearest number there."""
        self.passes(drops.gpt2(embd_pdrop=0.15, resid_pdrop=0.45, attn_pdrop=0.15), models.padded())

    def test_heads_of_fewer_features_than_tokens_pass(self):
        """A mask is then seen in several calls."""
        for attention in ("eager", "sdpa"):
            self.passes(models.llama(attention_dropout=0.5, head_dim=2, attn_implementation=attention), models.padded())

    def test_the_local_lens_alone_needs_no_more(self):
        self.passes(drops.gpt2(), models.packed(), options=("--lens", "local"))

    def test_lower_levels_have_the_masks_too(self):
        for level in ("gradients", "window"):
            code, said = judged(drops.gpt2(), models.padded(), level)
            self.assertEqual(code, PASS, said)

    def test_models_that_do_not_drop_pass(self):
        """In evaluation mode, and where TRL switched it off."""
        from trl.trainer.utils import disable_dropout_in_model
        self.passes(drops.gpt2().eval(), models.padded())
        self.passes(models.llama(attention_dropout=RATE).eval(), models.padded())
        model = drops.gpt2()
        disable_dropout_in_model(model)
        self.assertIn("assumed: modules drop nothing", self.passes(model, models.padded()))

    def test_an_attention_in_the_open_passes(self):
        self.passes(drops.gpt2(attn_implementation=drops.attends(drops.as_it_should)), models.packed())


class TrainedByFrameworks(unittest.TestCase):
    """Trainer and SFTTrainer, which put the model in training themselves."""

    def test_llamas_pass(self):
        record = recorded_by("all", layers="known")
        for recorder in (trainer_loops.train(record, data.WHOLE, models.llama(attention_dropout=RATE),
                                             data.sentences(data.WHOLE)),
                         trl_loops.train(record, models.llama(attention_dropout=RATE)),
                         trl_loops.train(record, models.llama(attention_dropout=RATE), padding_free=True)):
            code, said = verdict(recorder)
            self.assertEqual(code, PASS, said)
            self.assertNotIn("the model is opaque", said)

    def test_gpt2_as_shipped_fails_by_its_count_of_labels_alone(self):
        record = recorded_by("all", layers="known")
        code, said = verdict(trainer_loops.train(record, data.WHOLE, drops.gpt2(), data.sentences(data.WHOLE)))
        self.assertEqual((code, cause(said)), (FAIL, "tokens-counted-before-shift"), said)


class WhatIsSeen(unittest.TestCase):
    def trained(self, model, record):
        torch.manual_seed(5)
        models.train(record, model, models.padded())
        return [parameter.detach().clone() for parameter in model.parameters()] + [torch.rand(3)]

    def test_the_training_is_what_it_is_without(self):
        """To the bit, with all that is drawn behind it. At level `all` gradients of what three layers read are added in
        another order."""
        for make in (drops.gpt2, lambda **options: models.llama(attention_dropout=RATE, **options),
                     lambda **options: drops.checkpointed(drops.gpt2(**options), use_reentrant=False)):
            for attention in ("eager", "sdpa"):
                seen = self.trained(make(attn_implementation=attention),
                                    recorded_by("state", layers="known", normalisation="window_items"))
                alone = self.trained(make(attn_implementation=attention), lambda *_: contextlib.nullcontext())
                self.assertTrue(all(torch.equal(one, other) for one, other in zip(seen, alone, strict=True)))

    def test_masks_have_an_entry_for_each_element_and_each_pair(self):
        for batches in LAYOUTS.values():
            recorder = recorded(drops.gpt2(attn_pdrop=0.5), batches())
            tensors, scratch = recorder.capture.segments[0].tensors, recorder.capture.scratch
            lengths = [len(tokens) for tokens, _ in models.documents(2 * models.K * models.WINDOWS)]
            for name, width in (("transformer_drop", 16), ("transformer_h_1_mlp_dropout", 16)):
                mask = torch.cat([scratch.tensor(part) for part in tensors[f"{name}.mask"]])
                self.assertEqual(list(mask.shape), [sum(lengths), width])
                self.assertTrue(0 < int((mask == 0).sum()) < mask.numel() // 2)
            mask = torch.cat([scratch.tensor(part) for part in tensors["transformer_h_1_attention.mask"]])
            self.assertEqual(list(mask.shape), [sum(n * n for n in lengths), 4])
            first = mask[:lengths[0] ** 2, 0].reshape(lengths[0], lengths[0])
            self.assertFalse(bool(first.triu(1).any()), "a row sees none behind it")
            self.assertEqual(mask.unique().tolist(), [0, 1])


class PlantedBugs(unittest.TestCase):
    def fails(self, model, *sentences, batches=None):
        code, said = judged(model, batches or models.padded())
        self.assertEqual(code, FAIL, said)
        for sentence in sentences:
            self.assertIn(sentence, said)

    def test_a_module_that_forgets_the_factor(self):
        model = drops.gpt2()
        drops.forgets_the_factor(drops.of_second_block(model))
        self.fails(model, "first wrong: w0/m0/forward/transformer_h_1_mlp_dropout.y",
                   "the right tensor times 1 - p of dropout")

    def test_a_module_that_drops_nothing(self):
        model = drops.gpt2()
        drops.of_second_block(model).eval()
        self.fails(model, "first wrong: w0/m0/forward/transformer_h_1_mlp_dropout.y")
        model = drops.gpt2()
        model.transformer.drop = nn.Identity()
        self.fails(model, "first wrong: w0/m0/forward/transformer_drop.y")

    def test_a_module_with_another_rate_than_the_configuration_has(self):
        model = drops.gpt2()
        drops.of_second_block(model).p = 0.5
        self.fails(model, "first wrong: w0/m0/forward/transformer_h_1_mlp_dropout.y")
        model = models.adapted(lora_dropout=RATE)
        model.base_model.model.model.layers[1].mlp.down_proj.lora_dropout["default"].p = 0.2
        self.fails(model, "down_proj_lora_dropout_default.y")

    def test_attention(self):
        place = "first wrong: w0/m0/forward/transformer_h_0_attention.y"
        for weights in (drops.dropped_scores, drops.nothing_dropped, drops.without_the_factor):
            with self.subTest(weights.__name__):
                self.fails(drops.gpt2(attn_implementation=drops.attends(weights)), place)
        self.fails(drops.gpt2(attn_implementation=drops.attends(drops.without_the_factor)),
                   "the right tensor times 1 - p of attention", batches=models.packed())

    def test_a_checkpoint_that_draws_again(self):
        for model, layer in ((drops.gpt2(), "transformer_h_"),
                             (models.llama(attention_dropout=RATE), "model_layers_"),
                             (drops.gpt2(attn_pdrop=0, embd_pdrop=0), "transformer_h_")):
            self.fails(drops.checkpointed(model, use_reentrant=False, preserve_rng_state=False),
                       "drops other elements in a checkpoint's second forward pass", f"first wrong: w0/m0/backward/d.{layer}")
        self.fails(drops.checkpointed(drops.gpt2(), use_reentrant=True, preserve_rng_state=False),
                   "drops other elements in a checkpoint's second forward pass")


class Refusals(unittest.TestCase):
    def refused(self, model, *sentences):
        code, said = judged(model, models.padded())
        self.assertEqual(code, ERROR, said)
        for sentence in sentences:
            self.assertIn(sentence, said)

    def test_attention_that_draws_another_way(self):
        self.refused(drops.gpt2(attn_implementation=drops.attends(drops.drawn_elsewhere)),
                     "error: transformer_h_0_attention: found an attention that draws from a generator of its own",
                     "record the model as opaque, or without this dropout")
        self.refused(drops.gpt2(attn_implementation=drops.attends(drops.more_each_time)),
                     "error: transformer_h_0_attention: found a dropout that draws other numbers when it is run again")

    def test_a_module_that_looks_at_what_it_drops(self):
        model = drops.gpt2()
        drops.drops_what_is_above_0(drops.of_second_block(model))
        self.refused(model, "error: transformer_h_1_mlp_dropout: found a dropout that drops other elements")

    def test_attention_past_the_interface(self):
        """It is said before the model trains."""
        with self.assertRaisesRegex(CaptureError, "reorder_and_upcast_attn: found True, expected False"):
            recorded(drops.gpt2(reorder_and_upcast_attn=True, attn_implementation="eager"), models.padded())

    def test_windows_with_and_without(self):
        model = drops.gpt2()
        record = recorded_by("all", layers="known", normalisation="window_items")
        switched = iter([True, True, True, False, False, False])
        modes = lambda model: model.train(next(switched))  # noqa: E731
        code, said = verdict(models.train(record, model, models.padded(), each=modes))
        self.assertEqual(code, ERROR, said)
        self.assertIn("in training in some micro-batches and not in others", said)


if __name__ == "__main__":
    unittest.main()
