#!/usr/bin/env python3
"""Right language models of real widths that are accused all the same: real_widths.py COUNT [SEED] [FIRST]

Draws COUNT models of heads of 64 and 128, vocabularies of up to 50,257 and lines of up to 1,024 tokens, takes one window
with each and judges every layer of it; a model depends on the seed and its number from FIRST on alone. Prints a row
for each stratum, the sentence of every model that does not pass, and exits 1 where there is one. Runs in the
environment of the frameworks (README.md); the program is named by the variable TALLY."""
import collections
import os
import random
import sys
import tempfile

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
from transformers import (GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, MistralConfig,  # noqa: E402
                          MistralForCausalLM, Qwen2Config, Qwen2ForCausalLM)
from real_sizes import IGNORED, packed  # noqa: E402
from tally_recorder import Recorder  # noqa: E402

VOCABULARIES, HEADS = (256, 32000, 50257), (64, 128)


def drawn_model(draw, vocabulary, head, longest):
    heads = draw.choice((1, 1, 2, 4))
    width, attention = heads * head, draw.choice(("sdpa", "eager"))
    if draw.random() < 0.3:
        return GPT2LMHeadModel(GPT2Config(
            vocab_size=vocabulary, n_embd=width, n_layer=1, n_head=heads, n_positions=longest, resid_pdrop=0.0,
            embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, bos_token_id=1, eos_token_id=2,
            tie_word_embeddings=draw.random() < 0.7, attn_implementation=attention))
    family, config, options = draw.choice((
        (LlamaForCausalLM, LlamaConfig, {}), (Qwen2ForCausalLM, Qwen2Config, {}),
        (MistralForCausalLM, MistralConfig, {"sliding_window": draw.choice((16, 100, 4096))})))
    return family(config(
        vocab_size=vocabulary, hidden_size=width, intermediate_size=draw.choice((2, 3)) * width + 8,
        num_hidden_layers=1, num_attention_heads=heads, num_key_value_heads=draw.choice((1, heads)), head_dim=head,
        max_position_embeddings=longest, use_cache=False, tie_word_embeddings=draw.random() < 0.4,
        attn_implementation=attention, **options))


def drawn_batches(draw, vocabulary, longest):
    """Up to three micro-batches of documents of unequal length; of some the prompt is ignored."""
    batches = []
    for _ in range(draw.choice((1, 2, 3))):
        left, lengths = draw.choice((longest, longest // 2, longest // 3 + 2)), []
        while left > 0:
            lengths.append(min(left, draw.choice((1, 2, 17, 64, longest))))
            left -= lengths[-1]
        batch = packed(lengths, vocabulary)
        if draw.random() < 0.5:
            batch["labels"][0, : sum(lengths) // 3] = IGNORED
        batches.append(batch)
    return batches


def accused(model, batches, optimizer):
    """What is said of one window of a right loop unless it passes."""
    items = sum(batch["labels"][:, 1:].ne(IGNORED).sum() for batch in batches)
    with tempfile.TemporaryDirectory() as folder:
        with Recorder(model, optimizer, len(batches), level="all", layers="known",
                      normalisation="window_items") as recorder:
            for batch in batches:
                model(**batch, num_items_in_batch=items).loss.backward()
            optimizer.step()
        said = []
        if recorder.check(folder, options=["--lens", "local"], show=said.append) == 0:
            return ""
    lines = "\n".join(said).splitlines()
    return next((line for line in lines if line.startswith(("fail", "error"))), lines[-1])


def main():
    given = [int(argument) for argument in sys.argv[1:]]
    count, seed, first = given + [500, 1, 0][len(given):]
    counts, wrong = collections.Counter(), 0
    for index in range(first, first + count):
        draw = random.Random(seed * 1000003 + index)
        torch.manual_seed(index)
        vocabulary, head = draw.choice(VOCABULARIES), draw.choice(HEADS)
        longest = draw.choice((64, 100, 200, 300, 500) if vocabulary == 256 else (16, 32, 64, 128))
        if draw.random() < (0.1 if vocabulary == 256 else 0.01):
            longest = 1024
        model = drawn_model(draw, vocabulary, head, longest)
        with torch.no_grad():  # trained weights are larger than those of the first step
            for parameter in model.parameters():
                parameter.mul_(draw.choice((1, 1, 3)))
        optimizer = (torch.optim.SGD(model.parameters(), lr=0.01) if draw.random() < 0.7
                     else torch.optim.AdamW(model.parameters(), lr=0.001))
        print(f"{index - first + 1} of {count}", end="\r", file=sys.stderr, flush=True)
        said = accused(model, drawn_batches(draw, vocabulary, longest), optimizer)
        counts[type(model).__name__, vocabulary, head, longest] += 1
        if said:
            wrong += 1
            print(f"model {index}: {type(model).__name__}, vocabulary {vocabulary}, head {head}, {longest} tokens: {said}",
                  flush=True)
    print("| model | vocabulary | head | longest line | models |\n|---|---|---|---|---|")
    for stratum, models in sorted(counts.items()):
        print("| " + " | ".join(f"{part:,}" if isinstance(part, int) else part for part in (*stratum, models)) + " |")
    print(f"{count} models, {wrong} accused")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
