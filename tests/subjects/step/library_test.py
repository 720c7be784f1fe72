"""A shared library as a training step: right, wrong, and refused at its door."""
import json
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from campaign import CASE, LIBRARIES, Steps, library, main

FEW = ["--precision", "fp32", "--cases", "6"]


class Library(Steps):
    def test_a_right_step_passes_the_laws_that_its_trace_can_show(self):
        laws = "partition_equals_full_batch,exact_lane,repeats_bitwise,every_window_takes_its_step,permuted_micro_batches"
        results, said = self.verified(library("right_step"), "--law", laws, *FEW)
        self.assertEqual({law["status"] for law in results["laws"]}, {"pass"}, said)
        self.assertEqual(results["environment"]["executor"], library("right_step"))

    def test_a_wrong_step_fails_and_its_mistake_is_named_with_a_command_that_replays_it(self):
        results, said = self.verified(library("wrong_step"), "--law", "partition_equals_full_batch", *FEW, code=1)
        failing = next(case for case in results["cases"] if case["status"] == "fail")
        self.assertEqual(failing["suspects"][0]["name"], "mean-of-means")
        self.assertEqual(failing["first_stage"], "loss")
        self.assertIn(f"--subject {library('wrong_step')}", said)
        self.tally("replay", failing["token"], "--law", "partition_equals_full_batch", "--subject", library("wrong_step"), code=1)
        self.tally("replay", failing["token"], "--law", "partition_equals_full_batch", "--subject", library("right_step"))
        self.assertNotIn("kernel", failing, "no kernel of Tally's is to blame")

    def test_what_a_step_declines_is_not_run_with_its_reason_and_never_green(self):
        results, said = self.verified(library("right_step"), "--law", "partition_equals_full_batch", "--precision", "fp16",
                                      "--cases", "4", code=4)
        self.assertEqual({case["status"] for case in results["cases"]}, {"not_run"}, said)
        self.assertEqual(results["cases"][0]["message"],
                         "this subject declines the case: precision/storage is 'fp16'; this step takes 'fp32'")

    def test_laws_about_tallys_own_kernels_are_not_run(self):
        laws = ("guard_zones_stay_intact,no_data_race,every_output_is_written,norm_spans_launches,norms_count_every_element,"
                "any_schedule_of_threads,any_order_of_additions,observation_changes_nothing,stages_repeat_elsewhere,"
                "memory_follows_the_micro_batch,one_micro_batch_equals_plain")
        results, said = self.verified(library("right_step"), "--law", laws, "--precision", "fp32", "--cases", "8", code=4)
        self.assertEqual({case["status"] for case in results["cases"]}, {"not_run"}, said)
        own = [case["message"] for case in results["cases"] if "declines" not in case["message"]]
        self.assertTrue(own)
        for message in own:
            self.assertIn("this subject is a training step of its own: ", message)

    def test_in_this_process_it_says_the_same(self):
        apart, _ = self.verified(library("right_step"), "--law", "exact_lane,every_window_takes_its_step", *FEW)
        here, _ = self.verified(library("right_step"), "--law", "exact_lane,every_window_takes_its_step", *FEW, "--in-process")
        self.assertEqual(apart["cases"], here["cases"])

    def test_one_case_is_replayed_and_its_trace_kept(self):
        told = self.tally("replay", CASE, "--subject", library("right_step"), "--dump", self.folder / "kept")
        self.assertRegex(told, r"\npass")
        self.tally("check", self.folder / "kept/case.json", self.folder / "kept/trace.safetensors")
        self.tally("replay", CASE, "--subject", library("wrong_step"), code=1)

    def assertRefused(self, subject, *words, options=(), **environment):
        said = self.tally("verify", "--subject", subject, "--out", self.folder / "out", *options, code=2, **environment)
        self.assertRegex(said, r"^error: [^\n]+\n$")
        for word in words:
            self.assertIn(word, said)
        self.assertFalse((self.folder / "out").exists())

    def test_what_is_no_step_is_refused_before_anything_runs(self):
        self.assertRefused(library("odd_abi"), "has version 999 of the interface; expected 1", "subject.h")
        self.assertRefused(library("odd_symbol"), "exports no tally_step_entry; expected")
        self.assertRefused(library("odd_null"), "returned NULL")
        self.assertRefused(library("odd_run"), "has no run")
        self.assertRefused(library("odd_claims"), "claims: nonsense is unknown")
        self.assertRefused(library("odd_load"), "was ended by signal 6 (Aborted) before it answered")
        self.assertRefused(library("none_such"), "found nothing; expected a shared library")
        self.assertRefused("step:", "names nothing; expected step:LIBRARY")
        self.assertRefused(f"step:{self.folder}", "found no file")
        self.assertRefused(f"step:{CASE}", "is no ELF file")
        for option in ("--fault mean-of-means", "--kernel norm=shared_tree", "--magnitude 0.5", "--step-memory 0",
                       "--step-memory lots"):
            self.assertRefused(library("right_step"), option.split()[0], options=option.split())
        self.assertRefused("host", "--in-process: the subject is no library", options=["--in-process"])

    def test_a_library_for_another_machine_is_refused_by_its_name(self):
        image = bytearray((LIBRARIES / "right_step.so").read_bytes())
        struct.pack_into("<H", image, 18, 0xB7 if image[18:20] != b"\xb7\0" else 0x3E)
        (self.folder / "foreign.so").write_bytes(image)
        self.assertRefused(f"step:{self.folder / 'foreign.so'}", "is a library for ", "; expected one for ")
        (self.folder / "cut.so").write_bytes(bytes(image[:40]))
        self.assertRefused(f"step:{self.folder / 'cut.so'}", "cut.so: ")
        cut = (LIBRARIES / "right_step.so").read_bytes()[:3000]
        (self.folder / "short.so").write_bytes(cut)
        self.assertRefused(f"step:{self.folder / 'short.so'}", "short.so")

    def test_the_header_is_c(self):
        header = LIBRARIES / "include/tally/subject.h"
        for compiler, language, standard in (("cc", "c", "c99"), ("c++", "c++", "c++11")):
            subprocess.run([compiler, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", language,
                            header], check=True)

    def test_a_study_asks_tallys_own_kernels(self):
        self.assertIn("expected host, cuda or checked", self.tally("sweep", "precision", "--subject", library("right_step"), code=2))


if __name__ == "__main__":
    main()
