"""A reader of recorded operations of the tests' own, and a witness of what really ran, which shares nothing with the recorder."""
import json
import os
import shutil
import tempfile
import unittest

import torch

from tally_recorder.operations import Operations, places

places.MACHINERY = (*places.MACHINERY, os.path.abspath(__file__))  # the witness stands between an operation and its line


class Recording:
    """The lines of a folder. A last line that is no whole one is left out, as a killed run may leave it."""

    def __init__(self, folder):
        with open(os.path.join(folder, "bits.bin"), "rb") as file:
            self.bits = file.read()
        with open(os.path.join(folder, "operations.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.endswith("\n")]
        self.header, self.end = lines[0], lines[-1] if "end" in lines[-1] else None
        self.blocks, self.operations, self.unseen = {}, [], []
        for line in lines[1:]:
            if "block" in line:
                assert line["at"] % 64 == 0 and line["at"] + line["bytes"] <= len(self.bits) and line["block"] not in self.blocks, line
                self.blocks[line["block"]] = line
            elif "op" in line:
                assert self.named(line) <= set(self.blocks), "a block stands behind a line that names it"
                self.operations.append(line)
            elif "unseen" in line:
                self.unseen.append(line)

    @classmethod
    def named(cls, value):
        """The blocks that a value names."""
        if isinstance(value, dict):
            return {value["b"]} if "b" in value else set().union(*map(cls.named, value.values()))
        return set().union(*map(cls.named, value)) if isinstance(value, list) else set()

    def tensor(self, value):
        block = self.blocks[value["b"]]
        dtype = getattr(torch, value["d"])
        data = bytearray(self.bits[block["at"]:block["at"] + block["bytes"]])
        flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
        return flat.as_strided(value["s"], value["r"], value["o"])

    def called(self, name):
        """The operations of a name, such as "add_.Tensor"."""
        return [each for each in self.operations if each["op"] == f"aten.{name}"]

    def only(self, name):
        found, = self.called(name)
        return found


def bits(tensor):
    """Its elements, so that equality is that of bits."""
    return bytes(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy()) if tensor.numel() else b""


class Witness(Operations):
    """Copies what every operation is given and what it leaves, beside the recording."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.witnessed = []

    def run(self, func, args, kwargs):
        given = {**dict(zip((argument.name for argument in func._schema.arguments), args)), **kwargs}
        before = {name: self.copies(value) for name, value in given.items()}
        self.witnessed.append(None)
        number = len(self.witnessed) - 1
        result = super().run(func, args, kwargs)
        after = {name: self.copies(value) for name, value in given.items()}
        results = list(result) if isinstance(result, tuple) else [] if result is None else [result]
        self.witnessed[number] = str(func), before, [self.copies(each) for each in results], after
        return result

    def copies(self, value):
        if isinstance(value, torch.Tensor):
            return list(value.shape), str(value.dtype), bits(value.clone())
        return [self.copies(each) for each in value] if isinstance(value, (list, tuple)) else None


class Recorded(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def record(self, run, *args, **options):
        """What `run` did, its operations compared to what a witness saw of them."""
        folder = os.path.join(self.folder, str(len(os.listdir(self.folder))))
        with Witness(folder, *args, **options) as witness:
            run()
        found = Recording(folder)
        self.assertEqual(found.end, {"end": True, "seen": len(witness.witnessed), "recorded": len(found.operations)})
        for line in found.operations:
            name, before, results, after = witness.witnessed[line["i"]]
            self.assertEqual(line["op"], name)
            for argument, value in line["args"].items():
                self.holds(found, value, before.get(argument), f"{name} {argument} before")
            self.holds(found, line["out"], results, f"{name} returned")
            wrote = line.get("wrote", {})
            overwritten = found.named([line["args"][argument] for argument in wrote])
            for argument, copy in after.items():
                if argument in wrote or not overwritten & found.named(line["args"][argument]):
                    self.holds(found, wrote.get(argument, line["args"][argument]), copy, f"{name} {argument} after")
        return found

    def holds(self, found, value, copy, what):
        if isinstance(copy, tuple):
            self.assertIn("b", value, what)
            tensor = found.tensor(value)
            self.assertEqual((list(tensor.shape), str(tensor.dtype), bits(tensor)), copy, what)
        elif copy:
            self.assertEqual(len(value), len(copy), what)
            for each, one in zip(value, copy):
                self.holds(found, each, one, what)
