"""The PTX gate refuses what it must: on text, and on kernels that nvcc compiles here.

usage: gate_test.py NVCC
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import gate

NVCC = sys.argv.pop() if len(sys.argv) > 1 else ""
HERE = pathlib.Path(__file__).parent


def complaints(name, *flags):
    with tempfile.TemporaryDirectory() as folder:
        ptx = pathlib.Path(folder) / "kernel.ptx"
        subprocess.run([NVCC, "-ptx", "-arch=sm_80", *flags, "-o", ptx, HERE / name], check=True)
        return {(instruction.split(".")[0], what) for _, instruction, what in gate.findings(ptx.read_text())}


class OnText(unittest.TestCase):
    def test_instructions(self):
        for instruction, wrong in {
                "add.rn.f32": False, "add.f32": True, "mul.ftz.rn.f32": True, "fma.rn.f32": False, "add.s64": False,
                "ex2.approx.f32": True, "div.full.f32": True, "div.rn.f32": False, "mul.wide.u32": False,
                "sub.f16x2": True, "sub.rn.bf16x2": False, "red.global.add.f32": True, "atom.global.or.b32": False,
                "mul.lo.s32": False, "neg.f32": False, "max.f32": False, "cvt.rn.f16.f32": False, "mad.lo.s32": False,
        }.items():
            self.assertEqual(gate.complaint(instruction, False) is not None, wrong, instruction)

    def test_declared_atomics_pass(self):
        self.assertIsNone(gate.complaint("red.global.add.f32", True))

    def test_modules_are_found_in_a_binary(self):
        text = b".version 9.0\n.target sm_80\nadd.f32 a, b, c;\n"
        self.assertEqual([len(m) for m in gate.modules(b"\x7fELF" + text + b"\0rest" + text + b"\0")], [len(text)] * 2)


    def test_an_object_is_of_the_sources_of_its_unit(self):
        with tempfile.TemporaryDirectory() as folder:
            root, units = pathlib.Path(folder) / "root", pathlib.Path(folder) / "units"
            for text, source in (("", "relu.cu"), ("{.global_float_atomics = true}", "atomic_add.cu")):
                (root / "kernels").mkdir(parents=True, exist_ok=True)
                (root / "kernels" / source).write_text(text)
            (units / "a/kernels").mkdir(parents=True)
            (units / "a/kernels/1.cu").write_text('#include "kernels/atomic_add.cu"\n#include "kernels/relu.cu"\n')

            found = gate.sources_of(root, units, "build/x.dir/__/units/a/kernels/1.cu.o")

            self.assertEqual(found, [root / "kernels/atomic_add.cu", root / "kernels/relu.cu"])
            declares = gate.declaring(found)
            self.assertTrue(declares("_ZN5tally17atomic_add_kernel3addEv"))
            self.assertFalse(declares("_ZN5tally11relu_kernel3addEv"))
            for unknown in ("build/gelu/forward.cu.o", "build/units/a/kernels/2.cu.o"):
                with self.assertRaises(SystemExit):
                    gate.sources_of(root, units, unknown)


@unittest.skipIf(not NVCC, "no nvcc")
class OnKernels(unittest.TestCase):
    def test_expf_and_float_atomics_are_refused(self):
        found = complaints("fast_exponential.cu", "-fmad=false")
        self.assertIn(("ex2", "an approximation"), found)
        self.assertIn("an undeclared atomic in floating point", {what for _, what in found})

    def test_a_product_that_may_fuse_is_refused(self):
        self.assertIn(("mul", "no rounding mode"), complaints("fast_exponential.cu"))

    def test_fast_math_is_refused(self):
        self.assertIn("flushes subnormals", {what for _, what in complaints("rounded.cu", "--use_fast_math")})

    def test_rounded_arithmetic_passes(self):
        self.assertEqual(complaints("rounded.cu"), set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
