"""How the table beside PyTorch is made, on made-up numbers."""
import unittest

import peer_table


class Table(unittest.TestCase):
    def test_a_row_holds_medians_and_says_whether_the_ratio_is_reached(self):
        row = peer_table.row("local", 256, 64, [0.1, 0.2, 0.1], [0.3, 0.5, 0.5])
        self.assertEqual(row, ["256-256-256-10, local", "64", "100", "500", "3", "2.5 to 5", "4", "yes"])

    def test_one_that_is_slower_or_no_number_is_not_met(self):
        self.assertEqual(peer_table.row("local", 0, 16, [1.0], [0.3])[-1], "no")
        self.assertEqual(peer_table.row("all_lenses", 256, 64, [1.0], [float("nan")])[-1], "no")
        self.assertEqual(peer_table.row("all_lenses", 0, 16, [1.0], [0.3])[-2:], ["", ""])

    def test_it_is_markdown(self):
        text = peer_table.table([peer_table.row("local", 0, 16, [1.0], [0.1])])
        self.assertEqual({line.count("|") for line in text.splitlines()}, {len(peer_table.HEAD) + 1})


if __name__ == "__main__":
    unittest.main()
