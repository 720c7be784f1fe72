#!/usr/bin/env python3
"""What it takes to judge language models of real sizes layer by layer: run.py ENVIRONMENT real_sizes.py

Prints the table of language_models.md. The program is named by the variable TALLY."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM  # noqa: E402
from tally_recorder import Recorder  # noqa: E402

IGNORED = -100


def packed(lengths, vocabulary):
    """One line of documents."""
    tokens = torch.randint(0, vocabulary, (1, sum(lengths)))
    labels, positions, first = tokens.clone(), [], 0
    for length in lengths:
        labels[0, first] = IGNORED
        positions.append(torch.arange(length))
        first += length
    return {"input_ids": tokens, "labels": labels, "position_ids": torch.cat(positions)[None]}


def block(rows):
    """A block of GPT-2 small over four sequences, one micro-batch."""
    model = GPT2LMHeadModel(GPT2Config(vocab_size=256, n_layer=1, n_positions=max(1024, rows), resid_pdrop=0.0,
                                       embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, bos_token_id=1,
                                       eos_token_id=2))
    lengths = [rows * 4 // 10, rows * 3 // 10, rows * 2 // 10]
    return model, [packed([*lengths, rows - sum(lengths)], 256)]


def model_of_nine_million():
    """Two layers, width 384, six heads on two, a tied vocabulary of 16,384; a window of four micro-batches."""
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=16384, hidden_size=384, intermediate_size=1024, num_hidden_layers=2, num_attention_heads=6,
        num_key_value_heads=2, max_position_embeddings=256, tie_word_embeddings=True, use_cache=False))
    return model, [packed([length], 16384) for length in (256, 200, 256, 131)]


def recorded(model, batches, folder):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.001)
    items = sum(batch["labels"][:, 1:].ne(IGNORED).sum() for batch in batches)
    with Recorder(model, optimizer, len(batches), level="all", layers="known",
                  normalisation="window_items") as recorder:
        for batch in batches:
            model(**batch, num_items_in_batch=items).loss.backward()
        optimizer.step()
    return recorder.check(folder, options=["--lens", "local"], show=lambda _: None)


def judged(folder):
    """The verdict's last line, seconds and resident megabytes of `tally check`."""
    command = [os.environ.get("TALLY") or shutil.which("tally"), "check", "--lens", "local",
               os.path.join(folder, "case.json"), os.path.join(folder, "trace.safetensors")]
    with tempfile.TemporaryFile("w+") as said:
        begun = time.monotonic()
        child = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, text=True)
        resident = 0
        while child.poll() is None:
            resident = max(resident, resident_of(child.pid))
            time.sleep(0.02)
        seconds = time.monotonic() - begun
        said.seek(0)
        last = said.read().rstrip().splitlines()[-1]
    return last, seconds, resident


def resident_of(process):
    """The most megabytes that it has held so far; 0 once it has ended."""
    try:
        with open(f"/proc/{process}/status", encoding="ascii") as file:
            return max((int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM")), default=0)
    except OSError:
        return 0


def main():
    print("| what | parameters | rows | capture (MB) | verdict | seconds | resident (MB) |")
    print("|---|---|---|---|---|---|---|")
    cases = [(f"block of GPT-2 small, {rows} tokens", lambda rows=rows: block(rows)) for rows in (256, 512, 1024, 2048)]
    for name, make in [*cases, ("Llama of two layers, a window", model_of_nine_million)]:
        torch.manual_seed(1)
        model, batches = make()
        parameters = sum(parameter.numel() for parameter in model.parameters())
        rows = sum(batch["input_ids"].numel() for batch in batches)
        with tempfile.TemporaryDirectory() as folder:
            recorded(model, batches, folder)
            size = sum(os.path.getsize(os.path.join(folder, file)) for file in os.listdir(folder))
            verdict, seconds, resident = judged(folder)
        print(f"| {name} | {parameters:,} | {rows:,} | {size / 1e6:.0f} | {verdict} | {seconds:.1f} | "
              f"{resident:.0f} |", flush=True)


if __name__ == "__main__":
    main()
