#!/usr/bin/env python3
"""Which tokens of a batch are rows, and where sequences begin: python3 tests/recorder/model/token_rows_test.py"""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import tally_recorder  # noqa: E402
from tally_recorder.capture.language_models import rows_of_batch  # noqa: E402

TOKENS = torch.arange(10, 18).reshape(2, 4)


def rows(turns=True, **given):
    return rows_of_batch(TOKENS, {name: torch.tensor(value) for name, value in given.items()}, turns)


class TokenRows(unittest.TestCase):
    def test_lines_are_sequences(self):
        found = rows()
        self.assertEqual(found.lengths, [4, 4])
        self.assertIsNone(found.kept)
        self.assertIsNone(found.positions)

    def test_padding_is_no_row(self):
        found = rows(attention_mask=[[1, 1, 1, 0], [1, 1, 0, 0]], labels=[[1, 2, 3, -100], [4, 5, -100, -100]])
        self.assertEqual(found.lengths, [3, 2])
        self.assertEqual(found.of_flat(TOKENS.reshape(-1)).tolist(), [10, 11, 12, 14, 15])
        self.assertEqual(found.labels.tolist(), [1, 2, 3, 4, 5])
        self.assertEqual(found.positions.tolist(), [0, 1, 2, 0, 1])

    def test_a_mask_without_padding_changes_nothing(self):
        self.assertIsNone(rows(attention_mask=[[1] * 4] * 2).kept)

    def test_padding_on_the_left_shifts_positions_that_turn(self):
        mask = [[0, 0, 1, 1], [0, 1, 1, 1]]
        self.assertEqual(rows(attention_mask=mask).positions.tolist(), [2, 3, 1, 2, 3])
        self.assertIsNone(rows(turns=False, attention_mask=mask).positions)
        restarted = rows(attention_mask=mask, position_ids=[[1, 1, 0, 1], [1, 0, 1, 2]])
        self.assertEqual(restarted.lengths, [2, 3])
        self.assertIsNone(restarted.positions)

    def test_documents_of_a_line_are_told_apart(self):
        for given in ({"position_ids": [[0, 1, 0, 1], [0, 0, 1, 2]]},
                      {"cu_seq_lens_q": [0, 2, 4, 5, 8]},
                      {"seq_idx": [[0, 0, 1, 1], [2, 3, 3, 3]]}):
            with self.subTest(given):
                self.assertEqual(rows(**given).lengths, [2, 2, 1, 3])

    def test_what_cannot_be_told_is_refused(self):
        for given, found in (({"position_ids": [[5, 6, 7, 8], [0, 1, 2, 3]]}, "position_ids: found 5 where"),
                             ({"position_ids": [[0, 1, 2, 3], [0, 1, 2, 3]], "seq_idx": [[0, 0, 1, 1], [0] * 4]},
                              "position_ids: found 2 where a sequence starts .line 0, token 2.*DataCollator"),
                             ({"attention_mask": [1] * 8}, "attention_mask: found a shape"),
                             ({"token_type_ids": [[0] * 4] * 2}, "token_type_ids: found some")):
            with self.subTest(found), self.assertRaisesRegex(tally_recorder.CaptureError, found):
                rows(**given)


if __name__ == "__main__":
    unittest.main()
