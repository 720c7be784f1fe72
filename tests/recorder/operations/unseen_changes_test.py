#!/usr/bin/env python3
"""What no operation changed is seen to have changed: python3 tests/recorder/operations/unseen_changes_test.py"""
import os
import sys
import threading
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402,F401
import torch  # noqa: E402

import own_operations  # noqa: E402,F401
from recordings import Recorded, Recording  # noqa: E402
from tally_recorder.operations import Operations  # noqa: E402
from tally_recorder.operations.storages import Storages, storage_of  # noqa: E402


class ChangesByNoOperation(Recorded):
    def changed(self, change):
        x = torch.arange(4096.0)

        def run():
            x.neg()
            change(x)
            x.neg()
            x.neg()
        found = self.record(run)
        first, second, third = [line["args"]["self"]["b"] for line in found.called("neg.default")]
        self.assertEqual(second, third)
        self.assertEqual(len(found.unseen), first != second)
        for line in found.unseen:
            self.assertRegex(line["unseen"], r"changed between operations.* \(float32 \[\d+\], which aten.neg.default reads\)$")
            self.assertRegex(line["where"], r"unseen_changes_test.py:\d+ in run$")
        return first != second

    def test_one_element_by_numpy(self):
        self.assertTrue(self.changed(lambda x: x.numpy().__setitem__(4095, -1)))

    def test_elements_by_numpy_that_change_places(self):
        self.assertTrue(self.changed(lambda x: x.numpy()[:2].__setitem__(slice(None), [1, 0])))

    def test_operations_of_another_thread(self):
        def change(x):
            thread = threading.Thread(target=lambda: x.add_(1))
            thread.start()
            thread.join()
        self.assertTrue(self.changed(change))

    def test_numpy_that_writes_what_was_there(self):
        self.assertFalse(self.changed(lambda x: x.numpy().__setitem__(4095, 4095)))

    def test_a_storage_that_is_resized(self):
        with Operations(self.folder):
            x = torch.ones(4)
            x.neg()
            storage_of(x).resize_(1024)
            x.neg()
            storage_of(x).resize_(0)
            x.view(2, 2)
        found = Recording(self.folder)
        self.assertEqual(found.only("view.default")["args"]["self"], {"u": "without memory float32 [4]"})
        first, second = (found.blocks[line["args"]["self"]["b"]]["bytes"] for line in found.called("neg.default"))
        self.assertEqual((first, second, found.unseen), (16, 1024, []))

    def test_an_operation_that_conceals_what_it_writes(self):
        def run():
            x = torch.ones(3)
            torch.ops.operations_under_test.conceals(x)
            x.neg()
        with Operations(self.folder):
            run()
        found = Recording(self.folder)
        self.assertEqual([line["unseen"].split(":")[0] for line in found.unseen], ["the contents of a tensor changed between operations"])
        self.assertEqual(found.tensor(found.only("neg.default")["args"]["self"]).tolist(), [7] * 3)


class Device:
    type = "elsewhere"


class Elsewhere:
    """A tensor of another device, or its storage, as far as identity asks: its contents can be had by `cpu()` alone."""
    device, dtype, shape = Device(), torch.float32, (8,)

    def __init__(self, storage, version=0):
        self.storage, self._version = storage, version

    def __getattr__(self, name):
        return getattr(self.storage, name)

    def cpu(self):
        return self.storage

    def untyped_storage(self):
        return self.storage

    def is_inference(self):
        return False


class OtherDevices(Recorded):
    """Contents that the CPU cannot read are those of PyTorch's version of the same tensor."""

    def test_versions_of_tensors(self):
        held, lines = torch.ones(8), []
        storage = Elsewhere(storage_of(held))
        tensor, view = Elsewhere(storage.storage), Elsewhere(storage.storage, version=5)
        with open(os.path.join(self.folder, "bits"), "x+b", buffering=0) as bits:
            storages = Storages(bits, lines.append)

            def block(of):
                found = storages.block(of, storage)
                storages.note(of)
                changed, storages.changed = bool(storages.changed), None
                return found, changed
            self.assertEqual([block(each) for each in (tensor, view, tensor)], [(0, False)] * 3)
            view._version += 1
            self.assertEqual([block(each) for each in (view, view, tensor)], [(1, True), (1, False), (1, False)])
            storages.wrote(tensor)
            tensor._version += 1
            self.assertEqual([block(each) for each in (tensor, view)], [(2, False)] * 2)
        self.assertEqual([line["bytes"] for line in lines], [32] * 3)


if __name__ == "__main__":
    unittest.main()
