#!/usr/bin/env python3
"""Language models of Transformers layer by layer: right ones pass whole, and planted bugs are named with their layer.

run.py makes an environment that has Transformers and runs this with it. The program is named by the variable TALLY."""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import recorder_path  # noqa: E402, F401
import data  # noqa: E402
import language_models as models  # noqa: E402
import tally_recorder  # noqa: E402
import trainer_loops  # noqa: E402
from judged import cause, recorded_by, verdict  # noqa: E402

PASS, FAIL, ERROR = 0, 1, 2


def judged(model, batches, level="all", **options):
    record = recorded_by(level, layers="known", normalisation="window_items")
    return verdict(models.train(record, model, batches, **options))


class RightLoops(unittest.TestCase):
    def passes(self, model, batches, **options):
        code, said = judged(model, batches, **options)
        self.assertEqual(code, PASS, said)
        self.assertNotIn("the model is opaque", said)
        self.assertTrue(said.endswith("\npass\n"), said)

    def test_every_family_passes_layer_by_layer(self):
        for family in (models.llama, models.mistral, models.qwen2, models.gemma, models.gpt2):
            for kind, batches in (("padded", models.padded()), ("packed", models.packed())):
                for attention in ("sdpa", "eager"):
                    with self.subTest(family.__name__, kind=kind, attention=attention):
                        self.passes(family(attn_implementation=attention), batches)

    def test_the_local_lens_alone_needs_no_more(self):
        """As of models larger than memory."""
        for model in (models.llama(tie_word_embeddings=True), models.gemma(), models.gpt2(), models.adapted()):
            for batches in (models.padded(), models.packed()):
                with self.subTest(type(model).__name__):
                    recorder = models.train(recorded_by("all", layers="known", normalisation="window_items"), model,
                                            batches)
                    code, said = verdict(recorder, ("--lens", "local"))
                    self.assertEqual(code, PASS, said)
                    self.assertTrue(said.endswith("\npass\n"), said)

    def test_options_of_a_family_pass(self):
        for model in (models.llama(tie_word_embeddings=True, attention_bias=True, mlp_bias=True),
                      models.llama(head_dim=6, num_key_value_heads=4), models.gemma(hidden_act="gelu_new"),
                      models.gemma(hidden_act="silu", tie_word_embeddings=False, head_dim=6),
                      models.gpt2(activation_function="gelu"),
                      models.gpt2(activation_function="gelu_pytorch_tanh", tie_word_embeddings=False)):
            with self.subTest(str(model.config)):
                self.passes(model, models.padded())

    def test_packing_by_trl_passes(self):
        for strategy in ("bfd", "wrapped"):
            with self.subTest(strategy):
                self.passes(models.llama(), models.packed_by_trl(strategy))

    def test_padding_on_the_left_passes_where_positions_turn(self):
        self.passes(models.llama(), models.padded("left"))

    def test_checkpoints_pass(self):
        for reentrant in (False, True):
            model = models.llama()
            model.gradient_checkpointing_enable({"use_reentrant": reentrant})
            with self.subTest(reentrant=reentrant):
                self.passes(model, models.padded())

    def test_large_weights_pass(self):
        """Products of gradients and slopes leave the normal range in the order of factors that PyTorch has."""
        import torch
        for family in (models.llama, models.mistral, models.qwen2, models.gemma, models.gpt2):
            for times in (10, 20):
                model = family()
                with torch.no_grad():
                    for parameter in model.parameters():
                        parameter.mul_(times)
                code, said = judged(model, models.padded())
                with self.subTest(family.__name__, times=times):
                    self.assertEqual(code, PASS, said)

    def test_a_loss_of_ones_own_passes(self):
        """Over all tokens, and over all but each line's last."""
        for cut in (False, True):
            with self.subTest(cut=cut):
                record = recorded_by("all", layers="known", normalisation="window_items")
                code, said = verdict(models.train_by_hand(record, models.llama(), models.padded(), cut))
                self.assertEqual(code, PASS, said)

    def test_a_frozen_embedding_whose_output_asks_for_a_gradient_passes(self):
        """As adapters behind checkpoints need it."""
        for reentrant in (False, True):
            model = models.adapted()
            model.enable_input_require_grads()
            model.gradient_checkpointing_enable({"use_reentrant": reentrant})
            with self.subTest(reentrant=reentrant):
                self.passes(model, models.padded())

    def test_a_second_capture_replaces_the_first(self):
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                record = recorded_by("state", layers="known", normalisation="window_items")
                lines = []
                models.train(record, models.llama(), models.padded()).check(folder, show=lines.append)
                self.assertFalse([line for line in lines if line.startswith("error")], lines)

    def test_adapters_pass(self):
        self.passes(models.adapted(), models.padded())
        self.passes(models.adapted(use_rslora=True), models.packed())


class TrainedByTrainer(unittest.TestCase):
    """The Trainer of Transformers with a Llama as it is shipped, and with one that forgets to divide by the window's
    tokens."""

    def judged(self, loop):
        return verdict(loop(recorded_by("all", layers="known"), data.WHOLE))

    def test_a_llama_as_shipped_passes_layer_by_layer(self):
        code, said = self.judged(trainer_loops.language_model)
        self.assertEqual(code, PASS, said)
        self.assertNotIn("the model is opaque", said)

    def test_gpt2_as_shipped_counts_labels_before_the_shift(self):
        """Its loss has no type, by which Trainer would know that labels are shifted."""
        code, said = self.judged(trainer_loops.gpt2_as_shipped)
        self.assertEqual(code, FAIL, said)
        self.assertIn("tokens-counted-before-shift", said)
        code, said = verdict(trainer_loops.gpt2_as_shipped(recorded_by("state"), data.WHOLE))
        self.assertEqual(code, FAIL, said)
        self.assertRegex(said, r"(?m)^fail: window 0: labels are counted before the shift.* looks like tokens-counted-before-shift$")

    def test_one_that_forgets_is_named(self):
        code, said = self.judged(trainer_loops.language_model_that_forgets)
        self.assertEqual((code, cause(said)), (FAIL, "own-items"), said)


class PlantedBugs(unittest.TestCase):
    def fails(self, model, batches, *sentences, **options):
        code, said = judged(model, batches, **options)
        self.assertEqual(code, FAIL, said)
        for sentence in sentences:
            self.assertIn(sentence, said)
        return said

    def test_counts_of_tokens(self):
        said = self.fails(models.llama(), models.padded(), means=True)
        self.assertEqual(cause(said), "mean-of-means", said)
        self.fails(models.llama(), models.padded(), "tokens-counted-before-shift",
                   counted=lambda batch: models.scored(batch, before_the_shift=True))

    def test_a_clip_after_every_micro_batch(self):
        import torch
        said = self.fails(models.llama(), models.padded(),
                          each=lambda model: torch.nn.utils.clip_grad_norm_(model.parameters(), 0.05))
        self.assertEqual(cause(said), "clip-per-microbatch", said)

    def test_attention(self):
        place = "forward/model_layers_0_attention.y"
        for change, sentence in ((models.unscaled, "as if scale of attention were 1"),
                                 (models.scaled_by_width, "as if scale of attention were 0.25"),
                                 (models.tiled, place), (models.crossing, "packed-attention-crosses"),
                                 (models.looking_ahead, place)):
            with self.subTest(change.__name__):
                self.fails(models.llama(attn_implementation=models.attends(change)), models.packed(), place, sentence)

    def test_the_same_attention_without_a_bug_passes(self):
        model = models.llama(attn_implementation=models.attends(models.as_it_should))
        code, said = judged(model, models.packed())
        self.assertEqual(code, PASS, said)

    def test_packed_documents_are_one_to_a_model_with_a_cache(self):
        """As Transformers is shipped: with the cache, which is on by default, documents of a line see each other."""
        for batches in (models.packed(), models.packed_by_trl("bfd")):
            said = self.fails(models.llama(use_cache=True), batches, "attention.y")
            self.assertEqual(cause(said), "packed-attention-crosses", said)

    def test_positions(self):
        model = models.llama()
        with models.positions_run_on(model):
            self.fails(model, models.packed(), "forward/model_layers_0_rotary_q.y", "positions-run-on")
        with models.replaced(models.llama_code, "apply_rotary_pos_emb", models.turn_neighbours):
            self.fails(models.llama(), models.packed(), "as if pairing of rotary were interleaved")

    def test_a_padded_line_whose_learned_positions_count_its_padding(self):
        self.fails(models.gpt2(), models.padded("left"), "forward/transformer_wpe.y")

    def test_a_tied_weight_without_the_gradient_of_its_look_ups(self):
        model = models.llama(tie_word_embeddings=True)
        models.no_gradient_of_look_ups(model)
        self.fails(model, models.padded(), "fork/d.model_embed_tokens.weight")

    def test_modules_that_are_not_as_the_configuration_says(self):
        import torch.nn as nn
        model = models.llama()
        model.model.layers[1].post_attention_layernorm.variance_epsilon = 1e-2
        self.fails(model, models.padded(), "first wrong: w0/m0/forward/model_layers_1_post_attention_layernorm.y")
        model = models.gpt2()
        model.transformer.h[1].mlp.act = nn.GELU()
        self.fails(model, models.padded(), "first wrong: w0/m0/forward/transformer_h_1_mlp_act.y")

    def test_what_gemma_has_and_llama_has_not(self):
        import torch
        import torch.nn as nn
        model = models.gemma()
        model.model.embed_tokens.embed_scale.fill_(1)
        self.fails(model, models.padded(), "forward/model_embed_tokens_scaled.y", "as if factor of scale were 1")
        with models.replaced(models.gemma_code.GemmaRMSNorm, "forward", models.normed_without_offset):
            self.fails(models.gemma(), models.padded(), "forward/model_layers_0_input_layernorm.y",
                       "as if offset of rms_norm were 0")
        model = models.gemma()
        with torch.no_grad():  # gates so wide that the two differ
            model.model.layers[0].mlp.gate_proj.weight.mul_(50)
        model.model.layers[0].mlp.act_fn = nn.GELU()
        self.fails(model, models.padded(), "forward/model_layers_0_gated.y", "as if activation of gated were gelu")

    def test_a_part_that_no_gradient_reaches(self):
        model = models.llama()
        gate = model.model.layers[0].mlp.gate_proj
        gate.register_forward_hook(lambda _, __, y: y.detach())
        self.fails(model, models.padded(), "backward/d.model_layers_0_mlp_gate_proj.weight")

    def test_an_adapter_scaled_by_alpha(self):
        model = models.adapted()
        for module in model.modules():
            if hasattr(module, "scaling") and hasattr(module, "lora_A"):
                module.scaling["default"] = float(module.lora_alpha["default"])
        self.fails(model, models.padded(), "as if factor of scale were 6")


class Refusals(unittest.TestCase):
    def refused(self, model, batches, sentence):
        code, said = judged(model, batches)
        self.assertEqual(code, ERROR, said)
        self.assertIn(sentence, said)

    def test_batches_whose_sequences_cannot_be_told(self):
        batches = models.packed()
        for batch in batches:
            batch["position_ids"] = batch["position_ids"] + 5
        self.refused(models.llama(), batches, "DataCollatorWithFlattening")

    def test_a_head_that_is_not_tied_as_the_configuration_says(self):
        import torch.nn as nn
        model = models.llama(tie_word_embeddings=True)
        model.lm_head.weight = nn.Parameter(model.lm_head.weight.detach().clone())
        with self.assertRaisesRegex(tally_recorder.CaptureError, "tie_word_embeddings"):
            judged(model, models.padded())

    def test_models_that_cannot_be_stated(self):
        from transformers import Gemma2Config, Gemma2ForCausalLM
        capped = Gemma2ForCausalLM(Gemma2Config(**{**models.SIZES, "head_dim": 4}))
        for model, found in ((capped, "Gemma2ForCausalLM"),
                             (models.gemma(hidden_act="relu"), "hidden_act"),
                             (models.llama(rope_parameters={"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0}),
                              "rope_parameters"),
                             (models.gpt2(scale_attn_by_inverse_layer_idx=True), "scale_attn_by_inverse_layer_idx")):
            with self.subTest(found), self.assertRaisesRegex(tally_recorder.CaptureError, found):
                judged(model, models.padded())


if __name__ == "__main__":
    unittest.main()
