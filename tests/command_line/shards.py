"""Shards and their merge, seeds and progress, as a user of the program meets them. Standard library only."""
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import unittest

TALLY = sys.argv[1]
QUICK = ["--law", "exact_lane", "--precision", "fp32", "--cases", "2", "--no-training"]


def tally(*arguments):
    return subprocess.run([TALLY, *map(str, arguments)], capture_output=True, text=True, timeout=600)


class Shards(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def refuses(self, arguments, *words, code=2):
        result = tally(*arguments)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stdout}{result.stderr}")
        for word in words:
            self.assertIn(word, result.stdout + result.stderr)
        return result

    def test_shards_merge_into_the_bytes_of_the_whole(self):
        chosen = ["--subject", "host", "--law", "[p-s]*", "--precision", "fp32", "--cases", 2, "--no-training"]
        self.assertEqual(tally("verify", *chosen, "--out", self.out / "whole").returncode, 0)
        for i in (1, 2, 3):
            result = tally("verify", *chosen, "--shard", f"{i}/3", "--processes", i, "--out", self.out / str(i))
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn(f"shard {i}/3", result.stdout)
        merged = tally("merge", self.out / "3", self.out / "1", self.out / "2" / "results.json", "--out", self.out / "m")
        self.assertEqual(merged.returncode, 0, merged.stdout + merged.stderr)
        for name in ("results.json", "report.html", "junit.xml", "summary.md"):
            self.assertEqual((self.out / "m" / name).read_bytes(), (self.out / "whole" / name).read_bytes(), name)
        missing = tally("merge", self.out / "1", self.out / "3", "--out", self.out / "m")
        self.assertEqual(missing.returncode, 4)
        self.assertIn("INCOMPLETE", missing.stdout)
        self.assertIn("shard 2 of 3 is missing", missing.stderr)
        tally("verify", *chosen, "--shard", "2/3", "--seed", 5, "--out", self.out / "2")
        mixed = self.refuses(["merge", self.out / "1", self.out / "2", self.out / "3", "--out", self.out / "m"], code=4)
        self.assertRegex(mixed.stderr, "^error: INCOMPLETE: .*seed '5'.*\n$")

    def test_shards_and_merge_refuse_what_is_none(self):
        self.refuses(["verify", "--shard", "5/4", "--out", self.out], "5/4", "2/4")
        self.refuses(["merge", self.out / "nowhere", "--out", self.out], "nowhere", "results.json")
        tally("verify", *QUICK, "--subject", "host", "--out", self.out / "whole")
        self.refuses(["merge", self.out / "whole", "--out", self.out / "m"], "INCOMPLETE", "not of a shard", code=4)

    def test_a_merge_tells_what_makes_shards_differ_and_stays_out_of_them(self):
        shards = [self.out / "1", self.out / "2"]
        chosen = [*QUICK[:2], "--precision", "fp32,fp16", *QUICK[4:], "--subject", "host"]
        for i, more in ((1, []), (2, ["--no-shrink"])):
            self.assertEqual(tally("verify", *chosen, "--shard", f"{i}/2", *more, "--out", shards[i - 1]).returncode, 0)
        self.refuses(["merge", *shards, "--out", self.out / "m"], "shard 2/2 has selection", "not shrunk", code=4)
        tally("verify", *chosen, "--shard", "2/2", "--out", shards[1])
        results = shards[1] / "results.json"
        same, built = results.read_text(), re.compile("built from [0-9a-f]+[+]?")
        if built.search(same):
            results.write_text(built.sub("built from 0123456789ab", same))
            self.refuses(["merge", *shards, "--out", self.out / "m"], "built from 0123456789ab", code=4)
            results.write_text(same)
        for inside in (shards[0], shards[1] / "whole", shards[0] / "a" / ".." / ".."/ "1"):
            self.refuses(["merge", *shards, "--out", inside], "--out", "expected a folder outside all shards")
            self.assertEqual(results.read_text(), same)
        self.assertFalse((self.out / "m").exists() or (shards[1] / "whole").exists())
        (shards[0] / "corpus").mkdir()
        os.mkfifo(shards[0] / "corpus" / "exact_lane@pipe.json")
        (shards[0] / "corpus" / "notes.txt").write_text("no case")
        merged = tally("merge", *shards, "--out", self.out / "m")
        self.assertEqual(merged.returncode, 0, merged.stderr)
        self.assertIn("not kept: ", merged.stderr)
        self.assertFalse((self.out / "m" / "corpus").exists())

    def test_one_shard_of_one_is_merged(self):
        tally("verify", *QUICK, "--subject", "host", "--out", self.out / "whole")
        tally("verify", *QUICK, "--subject", "host", "--shard", "1/1", "--out", self.out / "part")
        merged = tally("merge", self.out / "part", "--out", self.out / "m")
        self.assertEqual(merged.returncode, 0, merged.stdout + merged.stderr)
        self.assertEqual((self.out / "m" / "results.json").read_bytes(), (self.out / "whole" / "results.json").read_bytes())

    def test_a_random_seed_is_printed_and_another_each_time(self):
        seeds = {tally("verify", *QUICK, "--subject", "host", "--seed", "random", "--out", self.out).stderr
                 .splitlines()[0] for _ in range(2)}
        self.assertEqual(len(seeds), 2)
        self.assertTrue(all(re.fullmatch(r"seed \d+", seed) for seed in seeds), seeds)

    def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere(self):
        arguments = [TALLY, "verify", *map(str, QUICK), "--subject", "host", "--out", str(self.out)]
        leader, follower = pty.openpty()
        subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=follower, timeout=600)
        os.close(follower)
        self.assertIn(b"\r\033[K[########################] 1/1 exact_lane fp32", os.read(leader, 65536))
        os.close(leader)
        self.assertEqual(subprocess.run(arguments, capture_output=True, text=True, timeout=600).stderr,
                         "[1/1] exact_lane fp32\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
