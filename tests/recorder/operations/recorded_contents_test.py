#!/usr/bin/env python3
"""What a recording holds are the bits that operations read and left: python3 tests/recorder/operations/recorded_contents_test.py"""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402,F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402

import own_operations  # noqa: E402,F401
from recordings import Recorded, Recording  # noqa: E402
from tally_recorder.operations import Operations  # noqa: E402


class Versions(Recorded):
    def test_an_operation_in_place_leaves_another_block_and_a_view_names_its_own(self):
        def run():
            x = torch.arange(12.0).view(3, 4)
            y = x.t()[1:]
            y.mul_(2)
            x.sum()
        found = self.record(run)
        written, arange = found.only("mul_.Tensor"), found.called("arange.default") + found.called("arange.start")
        before, after = written["args"]["self"]["b"], written["wrote"]["self"]["b"]
        self.assertEqual([line["out"][0]["b"] for line in arange + found.called("t.default") + found.called("slice.Tensor")], [before] * 3)
        self.assertNotEqual(before, after)
        self.assertEqual([written["out"][0]["b"], found.only("sum.default")["args"]["self"]["b"]], [after] * 2)
        self.assertEqual(written["wrote"]["self"], {"b": after, "d": "float32", "o": 1, "s": [3, 3], "r": [1, 4]})
        self.assertEqual(found.unseen, [])

    def test_data_and_detach_are_the_same_storage(self):
        def run():
            x = torch.ones(3, requires_grad=True)
            x.data.add_(1)
            x.detach().mul_(3)
            x * 2
        found = self.record(run)
        added, multiplied, read = found.only("add_.Tensor"), found.only("mul_.Tensor"), found.only("mul.Tensor")
        self.assertEqual(added["wrote"]["self"]["b"], multiplied["args"]["self"]["b"])
        self.assertEqual(multiplied["wrote"]["self"]["b"], read["args"]["self"]["b"])
        self.assertEqual(found.tensor(read["args"]["self"]).tolist(), [6.0] * 3)
        self.assertEqual(found.unseen, [])

    def test_an_address_that_is_used_again_is_another_storage(self):
        addresses = []

        def run():
            for number in range(400):  # more than are kept in mind at once
                x = torch.full((256,), float(number))
                addresses.append(x.data_ptr())
                x.neg()
                del x
        found = self.record(run)
        self.assertLess(len(set(addresses)), 400, "nothing was tried: no address was used again")
        blocks = [line["out"][0]["b"] for line in found.called("full.default")]
        self.assertEqual(len(set(blocks)), 400)
        self.assertEqual([line["args"]["self"]["b"] for line in found.called("neg.default")], blocks)
        self.assertEqual(found.unseen, [])

    def test_storages_that_have_died_are_let_go(self):
        with Operations(self.folder) as recording:
            for _ in range(1000):
                torch.ones(3)
            self.assertLess(len(recording.storages.known), 300)

    def test_results_that_are_given(self):
        def run():
            x, out = torch.arange(4.0), torch.empty(0)
            torch.add(x, 1, out=out)
            torch.sort(x, out=(out, torch.empty(4, dtype=torch.int64)))
            torch._foreach_mul_([x, out], 2.0)
            x.add_(x)
        found = self.record(run)
        added = found.only("add.out")
        self.assertEqual((added["args"]["out"]["s"], added["wrote"]["out"]["s"], added["out"]), ([0], [4], [added["wrote"]["out"]]))
        self.assertEqual(set(found.only("sort.values")["wrote"]), {"values", "indices"})
        scaled = found.only("_foreach_mul_.Scalar")
        self.assertEqual([found.tensor(value).tolist() for value in scaled["wrote"]["self"]], [[0, 2, 4, 6]] * 2)
        self.assertEqual(scaled["out"], [])
        twice = found.only("add_.Tensor")
        self.assertEqual(twice["args"]["self"], twice["args"]["other"])

    def test_running_statistics_are_written_in_training_alone(self):
        norm = nn.BatchNorm1d(3)
        found = self.record(lambda: (norm(torch.randn(4, 3)), norm(torch.randn(4, 3)), norm.eval(), norm(torch.randn(4, 3))))
        first, second, last = [line for line in found.operations if "batch_norm" in line["op"]]
        self.assertEqual(set(first["wrote"]), {"running_mean", "running_var"})
        self.assertNotEqual(first["args"]["running_mean"]["b"], first["wrote"]["running_mean"]["b"])
        for name in first["wrote"]:
            self.assertEqual(second["args"][name], first["wrote"][name])
            self.assertEqual(last["args"][name], second["wrote"][name])
        self.assertNotIn("wrote", last)
        self.assertEqual(found.unseen, [])

    def test_an_operation_that_fails_may_have_written(self):
        def run():
            x = torch.ones(4)
            x.neg()
            with self.assertRaises(RuntimeError):
                x.add_(torch.ones(3))
            x.neg()
            with self.assertRaisesRegex(RuntimeError, "half way"):
                torch.ops.operations_under_test.half_(x)
            x.neg()
        found = self.record(run)
        self.assertEqual(found.called("add_.Tensor") + [line for line in found.operations if "half" in line["op"]], [])
        self.assertEqual([found.tensor(line["out"][0]).tolist() for line in found.called("neg.default")], [[-1] * 4] * 2 + [[-2] * 4])
        self.assertEqual(found.unseen, [])

    def test_an_operation_of_ones_own_has_its_name_and_its_schema_is_believed(self):
        def run():
            x = torch.ones(3)
            torch.ops.operations_under_test.twice_(x, 2)
            x.neg()
        found = self.record(run)
        line, = (line for line in found.operations if line["op"] == "operations_under_test.twice_.default")
        self.assertEqual((found.tensor(line["args"]["x"]).tolist(), line["args"]["by"]), ([1] * 3, 2))
        self.assertEqual(line["wrote"], {"x": found.only("neg.default")["args"]["self"]})
        self.assertEqual((found.called("mul_.Tensor"), found.unseen), ([], []))


class Kinds(Recorded):
    def test_formats_shapes_and_numbers(self):
        def run():
            for name in ("float32", "float16", "bfloat16", "float64", "int64", "int32", "int16", "int8", "uint8", "bool"):
                torch.ones(3, 2, dtype=getattr(torch, name))[1:].clone()
            torch.empty(0, 3).sum(0)
            torch.ones(3, 1).expand(3, 4).add(0.1)
            torch.ones(()).add(2, alpha=3)
            torch.ones(2).mul(float("inf")).sub(float("nan")).sum(0, dtype=torch.float64)
            torch.split(torch.arange(4), 2)
            torch.zeros(2, 2)[:, torch.tensor([1])]
            torch.ones(2).to(torch.float16, memory_format=torch.preserve_format)
            torch.bernoulli(torch.ones(2), generator=torch.Generator())
        found = self.record(run)
        self.assertEqual(found.only("bernoulli.default")["args"]["generator"], {"other": "Generator"})
        self.assertEqual({line["args"]["self"]["d"] for line in found.called("clone.default")},
                         {"float32", "float16", "bfloat16", "float64", "int64", "int32", "int16", "int8", "uint8", "bool"})
        first, second = found.called("add.Tensor")
        self.assertEqual((first["args"]["self"]["r"], first["args"]["other"]), ([1, 0], {"f": "0x1.999999999999ap-4"}))
        self.assertEqual((second["args"]["other"], second["args"]["alpha"], first["args"]["alpha"]), (2, 3, 1))
        self.assertEqual(list(first["args"]), ["self", "other", "alpha"])
        self.assertEqual([found.only(name)["args"]["other"]["f"] for name in ("mul.Tensor", "sub.Tensor")], ["inf", "nan"])
        self.assertEqual(found.called("sum.dim_IntList")[1]["args"]["dtype"], {"dtype": "float64"})
        self.assertIsInstance(found.only("split.Tensor")["out"][0], list)
        self.assertIsNone(found.only("index.Tensor")["args"]["indices"][0])
        self.assertEqual(found.only("_to_copy.default")["args"]["memory_format"], {"memory_format": "preserve_format"})

    def test_inference_mode(self):
        weight = torch.randn(4, 3)

        def run():
            with torch.inference_mode():
                y = nn.functional.linear(torch.randn(2, 3), weight)
                y += 1
                y.relu()
        found = self.record(run)
        self.assertEqual(found.called("linear.default"), [], "its parts ran")
        self.assertEqual(len(found.called("mm.default")), 1)
        self.assertEqual(found.only("relu.default")["args"]["self"], found.only("add_.Tensor")["wrote"]["self"])

    def test_tensors_that_are_not_recorded_say_why(self):
        with Operations(self.folder):
            (torch.eye(2).to_sparse() * 2).to_dense()
            torch.ones(2, dtype=torch.complex64) * 2
            torch.empty(3, device="meta") + 1
            torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8).dequantize()
        found = Recording(self.folder)
        texts = {value["u"] for line in found.operations for value in [*line["args"].values(), *line["out"]]
                 if isinstance(value, dict) and "u" in value}
        self.assertLessEqual({"sparse_coo float32 [2, 2]", "complex64 [2]", "meta float32 [3]", "quantised qint8 [2]"}, texts)

    def test_a_kind_of_tensor_that_takes_operations_apart(self):
        from torch.utils._pytree import tree_map

        class Wrapper(torch.Tensor):
            @staticmethod
            def __new__(cls, inner):
                made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
                made.inner = inner
                return made

            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                return cls(func(*tree_map(lambda each: each.inner if isinstance(each, cls) else each, args), **(kwargs or {})))
        found = self.record(lambda: Wrapper(torch.ones(2)).mul(3))
        self.assertEqual(found.tensor(found.only("mul.Tensor")["out"][0]).tolist(), [3, 3])


class WholeSteps(Recorded):
    def test_all_operations_of_training_with_every_kind_of_layer(self):
        torch.manual_seed(3)
        model = nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.GELU(), nn.Flatten(), nn.Dropout(0.5), nn.Linear(16, 8),
                              nn.LayerNorm(8), nn.Softmax(-1))
        table = nn.Embedding(5, 8)
        for kind in (torch.optim.Adam, torch.optim.SGD):
            optimizer = kind([*model.parameters(), *table.parameters()], lr=0.1)

            def run():
                for _ in range(2):
                    optimizer.zero_grad()
                    loss = nn.functional.cross_entropy(model(torch.randn(3, 2, 6)) + table(torch.tensor([1, 1, 4])), torch.tensor([0, 7, 2]))
                    loss.backward()
                    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
                    optimizer.step()
            found = self.record(run, model)
            self.assertEqual(found.unseen, [])

    def test_autocast_and_a_transformer(self):
        torch.manual_seed(3)
        model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

        def run():
            with torch.autocast("cpu", torch.bfloat16):
                model(torch.randn(2, 3, 8)).float().square().mean().backward()
        found = self.record(run, model)
        self.assertEqual(found.unseen, [])
        self.assertIn("bfloat16", {value["d"] for line in found.operations for value in line["args"].values()
                                   if isinstance(value, dict) and "d" in value})


if __name__ == "__main__":
    unittest.main()
