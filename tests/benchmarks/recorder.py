#!/usr/bin/env python3
"""What the recorder of PyTorch loops costs: recorder.py TALLY [--rounds N] [--large] [--out FOLDER]

A 100-500-10 perceptron, batches of 64, Adam, K = 4, at every level of taps; with --large a network of 124 million
parameters in the shapes of a small GPT-2, two windows, recorded by samples and whole. Loops with and without the
recorder run in turn; what is printed is the median of the processor's seconds, which others on the machine do not
change as they do the clock's. A page and a document are left in FOLDER. Never run by ctest: a time is no test."""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "kernels/subjects/pytorch"))

import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import tally_recorder  # noqa: E402
from tally_recorder.recipe import LEVELS  # noqa: E402

K = 4
SAMPLES = 1 << 15
DEMANDED = {"state": 2.0, "all": 5.0, "samples": 1.3}


class Perceptron:
    name, windows = "100-500-10", 25

    def __init__(self):
        torch.manual_seed(1)
        self.net = nn.Sequential(nn.Linear(100, 500), nn.ReLU(), nn.Linear(500, 10))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.x, self.target = torch.randn(64, 100), torch.randint(0, 10, (64,))

    def micro_batch(self):
        (F.cross_entropy(self.net(self.x), self.target) / K).backward()

    def loop(self):
        for _ in range(self.windows):
            for _ in range(K):
                self.micro_batch()
            self.opt.step()
            self.opt.zero_grad()


class Large(Perceptron):
    """A transformer with the shapes of a small GPT-2: 12 blocks of 768 features, 50257 words, 1024 places."""
    name, windows = "124 million parameters", 2

    def __init__(self):
        torch.manual_seed(1)
        self.net = Language()
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=1e-4)
        self.x = torch.randint(0, 50257, (2, 64))

    def micro_batch(self):
        y = self.net(self.x)
        (F.cross_entropy(y[:, :-1].reshape(-1, y.shape[-1]), self.x[:, 1:].reshape(-1)) / K).backward()


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50257, 768), nn.Embedding(1024, 768)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(768, 12, 3072, 0.0, F.gelu, batch_first=True,
                                                               norm_first=True) for _ in range(12))
        self.norm = nn.LayerNorm(768)

    def forward(self, x):
        h = self.words(x) + self.places(torch.arange(x.shape[1]))
        mask = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1)
        for block in self.blocks:
            h = block(h, src_mask=mask)
        return F.linear(self.norm(h), self.words.weight)


def seconds_of(run):
    before = time.process_time(), time.perf_counter()
    run()
    return time.process_time() - before[0], time.perf_counter() - before[1]


def recorded(subject, **options):
    recorder = tally_recorder.Recorder(subject.net, subject.opt, K, **options)

    def run():
        with recorder:
            subject.loop()
    return recorder, seconds_of(run)


def ratios(subject, rounds, ways):
    """The loop alone and recorded in each way, in turn; medians of both clocks, and a recorder of each way."""
    subject.loop()
    plain, found, last = [], {name: [] for name in ways}, {}
    for _ in range(rounds):
        plain.append(seconds_of(subject.loop))
        for name, options in ways.items():
            last.pop(name, None)
            last[name], seconds = recorded(subject, **options)
            found[name].append(seconds)
    def median(times, clock):
        return statistics.median(each[clock] for each in times)
    return {name: {"alone_s": median(plain, 0), "recorded_s": median(times, 0), "rounds": rounds,
                   "slowdown": median(times, 0) / median(plain, 0),
                   "slowdown_by_the_clock": median(times, 1) / median(plain, 1)}
            for name, times in found.items()}, last


def checked(recorder, tally, folder):
    """Seconds that a check takes with its writing, its exit code, its last line, and the capture's megabytes."""
    lines = []
    began = time.perf_counter()
    code = recorder.check(folder, tally, lines.append)
    size = sum(entry.stat().st_size for entry in pathlib.Path(folder).iterdir())
    said = lines[-1].splitlines()[-1] if lines else ""
    return {"check_s": time.perf_counter() - began, "exit": code, "said": said, "capture_mb": size / 1e6}


def small(options):
    rows, last = ratios(Perceptron(), options.rounds, {level: {"level": level} for level in LEVELS})
    return rows


def large(options):
    subject = Large()
    rows, last = ratios(subject, options.large_rounds, {"samples": {"samples": SAMPLES}})
    with tempfile.TemporaryDirectory() as folder:
        rows["samples"].update(checked(last["samples"], options.tally, folder))
    rows["samples"]["most_resident_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    if options.whole:
        subject = Large()
        whole, seconds = recorded(subject, level="window", windows=1)
        name = "whole, one window, level window"
        rows[name] = {"recorded_s": seconds[0], "slowdown": seconds[0] / rows["samples"]["alone_s"]}
        with tempfile.TemporaryDirectory() as folder:
            rows[name].update(checked(whole, options.tally, folder))
    return rows


def page(document):
    lines = ["# What the recorder of PyTorch loops costs", "",
             f"PyTorch {document['torch']}, {document['threads']} thread, K = {K}; medians of the processor's seconds. "
             "Written by", "`tests/benchmarks/recorder.py`.", ""]
    for name, rows in document["subjects"].items():
        lines += [f"## {name}", "", "| recorded | alone, s | recorded, s | times | demanded | capture, MB | check, s | "
                  "it says |", "|---|---|---|---|---|---|---|---|"]
        for way, row in rows.items():
            cells = [way, *(f"{row[key]:.3g}" if key in row else "" for key in ("alone_s", "recorded_s", "slowdown"))]
            cells += [f"{DEMANDED[way]:g}" if way in DEMANDED else ""]
            cells += [f"{row[key]:.4g}" if key in row else "" for key in ("capture_mb", "check_s")]
            lines.append("| " + " | ".join([*cells, row.get("said", "")[:200]]) + " |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tally")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--large-rounds", type=int, default=3)
    parser.add_argument("--whole", action="store_true", help="record the large one whole as well (some 20 GB of disk)")
    parser.add_argument("--out")
    options = parser.parse_args()
    torch.set_num_threads(1)
    document = {"torch": torch.__version__, "threads": 1, "subjects": {Perceptron.name: small(options)}}
    if options.large:
        document["subjects"][Large.name] = large(options)
    text = page(document)
    print(text)
    if options.out:
        with tempfile.TemporaryDirectory() as near:
            pathlib.Path(near, "recorder.md").write_text(text, encoding="utf-8")
            pathlib.Path(near, "figures.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
            os.makedirs(options.out, exist_ok=True)
            for name in ("recorder.md", "figures.json"):
                shutil.move(os.path.join(near, name), os.path.join(options.out, name))


if __name__ == "__main__":
    main()
