"""Kernels of a user's own against an installed Tally, as a user builds and runs them. Standard library only.

usage: plugin.py BUILD CHECKED CUDA; the last two are ON where the build has those executors."""
import os
import sys
import unittest

from project import EXAMPLE, Folder, cmake_lists, has, run

BUILD, CHECKED, CUDA = sys.argv[1], sys.argv[2] == "ON" and has("clang++-16"), sys.argv[3] == "ON"
KERNEL = (EXAMPLE / "layer_norm.cu").read_text()
HOST_ALONE = "-DTALLY_CHECKED_COMPILER=OFF"
CHANGED = KERNEL.replace("j = 0; j < features; ++j) sum", "j = features; j-- > 0;) sum")  # the other order of additions


class Plugin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder(BUILD)
        cls.addClassCleanup(cls.folder.close)
        cls.folder.install()
        cls.example = cls.folder.example("example")
        cls.mistakes = cls.folder.example("mistakes", HOST_ALONE, "-DWITH_MISTAKES=ON")
        cls.example.compiled()
        cls.mistakes.compiled("eps_outside_tally", "claims_two_passes_tally")

    def test_a_right_kernel_passes_on_every_executor_there_is(self):
        told = self.example.ctest(r"^layer_norm\.")
        self.assertRegex(told, r"layer_norm\.host \.+ +Passed")
        self.assertRegex(told, r"layer_norm\.checked \.+ +Passed" if CHECKED else r"layer_norm\.checked \.+\**Skipped")
        self.assertRegex(told, r"layer_norm\.cuda \.+\**Skipped")

    def test_a_wrong_kernel_fails_by_the_law_with_the_cause_named(self):
        told = self.mistakes.ctest(r"^eps_outside\.host", code=8)
        for words in ("FAIL   layer_norm_leaves_no_gap", "kernel: layer_norm.forward/eps_outside, ", "eps_outside.cu\n"):
            self.assertIn(words, told)

    def test_a_right_kernel_with_a_wrong_claim_fails(self):
        told = self.mistakes.ctest(r"^claims_two_passes\.host", code=8)
        self.assertIn("FAIL   layer_norm_leaves_no_gap", told)
        self.assertIn("claims_two_passes", told)
        honest = KERNEL_IN_ONE_PASS.replace('"two_pass"', '"one_pass"')
        project = self.folder.project("honest", {"mine.cu": honest, "CMakeLists.txt": cmake_lists(
            "add_equivalence_test(NAME mine OPERATION layer_norm.forward=claims_two_passes\n"
            "  LAWS layer_norm_leaves_no_gap PRECISIONS fp32)")}, HOST_ALONE)
        project.compiled()
        project.ctest(r"mine\.host")

    def test_the_program_is_tally_with_the_kernel_in_it(self):
        told = self.example.program("layer_norm", "list", "kernels")
        self.assertRegex(told, r"layer_norm\.forward\b[^\n]*\bmine\b|\bmine\b[^\n]*layer_norm\.forward")
        installed = run(self.folder.prefix / "bin" / "tally", "list", "kernels")
        self.assertNotIn("mine", installed)

    def test_a_baseline_is_held_against(self):
        body = ("add_equivalence_test(NAME layer_norm OPERATION layer_norm.forward=mine LAWS layer_norm_leaves_no_gap\n"
                "  PRECISIONS fp32 EFFORT 0.3 BASELINE baseline.json)")
        project = self.folder.project("gated", {"layer_norm.cu": KERNEL, "CMakeLists.txt": cmake_lists(body)}, HOST_ALONE)
        project.compiled()
        told = project.ctest(r"layer_norm\.gate", code=8)
        self.assertIn("baseline.json", told)
        results = project.out / "layer_norm.out" / "host" / "results.json"
        project.program("layer_norm", "bless", results, "--baseline", project.source / "baseline.json", "--reason", "first")
        project.ctest(r"layer_norm\.(host|gate)")
        (project.source / "layer_norm.cu").write_text(CHANGED)
        project.compiled()
        told = project.ctest(r"layer_norm\.(host|gate)", code=8)
        self.assertRegex(told, r"1 kernel changed \(layer_norm\.forward/mine\)")
        self.assertIn("layer_norm.cu", told)

    def test_a_revision_of_the_project_is_gated_against(self):
        body = "add_equivalence_test(NAME layer_norm OPERATION layer_norm.forward=mine)"
        project = self.folder.project("repository/below", {"layer_norm.cu": KERNEL, ".gitignore": "build/\n",
                                                           "CMakeLists.txt": cmake_lists(body)}, HOST_ALONE)
        names = ["-c", "user.name=tests", "-c", "user.email=tests@example.org"]
        run("git", "init", "--quiet", cwd=project.source.parent)
        run("git", "add", "--all", cwd=project.source)
        run("git", *names, "commit", "--quiet", "--message", "as it was", cwd=project.source)
        (project.source / "layer_norm.cu").write_text(CHANGED)
        project.compiled()
        gate = ["gate", "--against", "HEAD", "--subject", "host", "--law", "layer_norm_leaves_no_gap", "--precision", "fp32",
                "--effort", "0.3", "--kernel-in-both", "layer_norm.forward=mine"]
        told = run(project.out / "layer_norm_tally", *gate, cwd=project.source)
        self.assertIn("building HEAD", told)
        self.assertRegex(told, r"1 kernel changed \(layer_norm\.forward/mine\)")
        (project.source / "layer_norm.cu").write_text(KERNEL)
        project.compiled()
        told = run(project.out / "layer_norm_tally", *gate, cwd=project.source)
        self.assertNotIn("building", told)
        self.assertIn("bits equal in all", told)

    @unittest.skipUnless(CUDA and (has("nvcc") or os.environ.get("CUDACXX")), "no nvcc here, or a build without CUDA")
    def test_where_the_project_has_cuda_nvcc_compiles_the_kernel_too(self):
        body = ("add_equivalence_test(NAME layer_norm OPERATION layer_norm.forward=mine LAWS layer_norm_leaves_no_gap\n"
                "  PRECISIONS fp32)")
        project = self.folder.project("gpu", {"layer_norm.cu": KERNEL, "CMakeLists.txt": cmake_lists(body, "CXX CUDA")},
                                      HOST_ALONE, "-DCMAKE_CUDA_ARCHITECTURES=80")
        project.compiled()
        told = project.ctest(r"layer_norm\.cuda")
        self.assertRegex(told, r"layer_norm\.cuda \.+(\**Skipped| +Passed)")
        made, = project.out.glob("**/layer_norm_tally_kernels_cuda.dir/**/layer_norm.cu.o")
        self.assertIn("__cudaRegisterFatBinary", run("nm", made))


KERNEL_IN_ONE_PASS = (EXAMPLE / "claims_two_passes.cu").read_text().replace("layer_norm.cu", "mine.cu")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
