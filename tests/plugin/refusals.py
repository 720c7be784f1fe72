"""What a project of a user's own kernels may get wrong: one error, exit code 2, the place and what to do about it.
Standard library only. usage: refusals.py BUILD"""
import os
import shutil
import sys
import unittest

from project import EXAMPLE, Folder, cmake_lists

KERNEL = (EXAMPLE / "layer_norm.cu").read_text()
HOST_ALONE = "-DTALLY_CHECKED_COMPILER=OFF"
MISTAKES = {  # name: the kernel's file, the operation that is asked for, what the one line of the error holds
    "missing": (KERNEL, "layer_norm.forward=theirs",
                ["missing.cu: found the kernels layer_norm.forward=mine, expected layer_norm.forward=theirs",
                 "CMakeLists.txt: add_equivalence_test(NAME missing)", '{.variant = "theirs"}']),
    "unknown": (KERNEL.replace('"layer_norm.forward"', '"layer_norm.forwards"'), "layer_norm.forwards=mine",
                ["CMakeLists.txt: add_equivalence_test(NAME unknown)", "'layer_norm.forwards'",
                 "the nearest are layer_norm.forward"]),
    "taken": (KERNEL.replace('"mine"', '"two_pass"'), "layer_norm.forward=two_pass",
              ["taken.cu: kernel layer_norm.forward/two_pass on host is registered twice",
               "first in kernels/norm/layer_norm.cu; expected another variant"]),
    "standard": (KERNEL.replace(",\n                                KernelUse::when_named);", ");"),
                 "layer_norm.forward=mine",
                 ["standard.cu: the standard kernel of layer_norm.forward is two_pass of kernels/norm/layer_norm.cu",
                  "register mine with KernelUse::when_named"]),
    "arguments": (KERNEL.replace('"layer_norm.forward"', '"layer_norm.backward"'), "layer_norm.backward=mine",
                  ["arguments.cu: layer_norm.backward=mine takes tally::NormForwardArguments",
                   "expected tally::NormBackwardArguments as of kernels/norm/layer_norm.cu"]),
}


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder(sys.argv[1])
        cls.addClassCleanup(cls.folder.close)
        cls.folder.install()

    def refused(self, project, name, said):
        quick = ["--law", "exact_lane", "--precision", "fp32", "--cases", "1", "--no-training"]
        for words in (["verify", "--subject", "host", *quick], ["list", "kernels"], ["--version"]):
            told = project.program(name, *words, code=2)
            self.assertEqual(told.count("\n"), 1, told)
            self.assertTrue(told.startswith("error: "), told)
            for part in said:
                self.assertIn(part, told)

    def test_a_program_that_holds_not_what_was_asked_for_says_so_before_it_runs(self):
        files = {f"{name}.cu": text for name, (text, _, _) in MISTAKES.items()}
        body = "\n".join(f"add_equivalence_test(NAME {name} OPERATION {asked})" for name, (_, asked, _) in MISTAKES.items())
        project = self.folder.project("mistakes", {**files, "CMakeLists.txt": cmake_lists(body)}, HOST_ALONE)
        project.compiled()
        for name, (text, _, said) in MISTAKES.items():
            with self.subTest(name):
                self.assertTrue(text != KERNEL or name == "missing")
                self.refused(project, name, said)

    def test_a_kernel_compiled_against_other_headers_is_refused(self):
        other = self.folder.root / "other"
        shutil.copytree(self.folder.prefix, other, copy_function=os.link)
        header = other / "include" / "tally" / "kernels" / "plugin" / "compiled_against.hpp"
        text = header.read_text()
        header.unlink()
        header.write_text(text.replace('__BASE_FILE__, "0.1', '__BASE_FILE__, "0.0'))
        files = {"layer_norm.cu": KERNEL, "CMakeLists.txt": cmake_lists(
            "add_equivalence_test(NAME layer_norm OPERATION layer_norm.forward=mine)")}
        project = self.folder.project("abi", files, HOST_ALONE, prefix=other)
        project.compiled()
        self.refused(project, "layer_norm", ["layer_norm.cu: compiled against the headers of Tally 0.0.", "this program is of 0.1.",
                                             "--clean-first"])

    def test_cmake_refuses_what_it_can_see(self):
        asks = {  # the call, what is said
            "add_equivalence_test(NAME mine OPERATION layer_norm.forward=mine)": ["mine.cu does not exist", "expected the .cu"],
            "add_equivalence_test(NAME mine OPERATION layer_norm.forward)": ["OPERATION is 'layer_norm.forward'", "=mine"],
            "add_equivalence_test(OPERATION layer_norm.forward=mine)": ["NAME is ''", "expected letters"],
            "add_equivalence_test(NAME mine OPERATION a=b TOLERANCE 3)": ["TOLERANCE", "expected NAME"],
        }
        for number, (call, said) in enumerate(asks.items()):
            with self.subTest(call):
                self.assert_not_configured(f"asks{number}", cmake_lists(call), ["CMakeLists.txt: add_equiv", *said])
        self.assert_not_configured("version", cmake_lists("", version="7.1"), ["0.1.0", "7.1"])

    def assert_not_configured(self, name, text, said):
        with self.assertRaises(AssertionError) as refused:
            self.folder.project(name, {"CMakeLists.txt": text})
        told = " ".join(str(refused.exception).split())
        for part in said:
            self.assertIn(part, told)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
