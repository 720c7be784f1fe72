"""Sources that CMake writes: which commit the program is of, what its headers for kernels hash to, and which faults there
are. One whose text stays is left as it is, so that nothing is compiled again."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAULT = 'const RegisterFault registered{{{{\n    .name = "{}",{}\n    .laws = {{{}}},\n}}}};\n'


class MadeSources(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a project ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.source = self.folder / "source"
        self.source.mkdir()

    def write(self, name, text):
        (self.source / name).write_text(text)

    def git(self, *words):
        of = {"GIT_CEILING_DIRECTORIES": str(self.folder)}
        return subprocess.run(["git", "-C", self.source, "-c", "user.name=tests", "-c", "user.email=tests@example.org", *words],
                              check=True, capture_output=True, text=True, env={**os.environ, **of}).stdout.strip()

    def made(self, script, out, **words):
        ran = subprocess.run(["cmake", *(f"-D{name}={word}" for name, word in words.items()), f"-DOUT={out}", "-P", ROOT / script],
                             capture_output=True, text=True, env={**os.environ, "GIT_CEILING_DIRECTORIES": str(self.folder)})
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def tree(self):
        """(what tree() answers, what the program is marked with)."""
        out = self.folder / "tree.cpp"
        self.made("reports/study/tree.cmake", out, SOURCE=self.source)
        return re.findall(r'return "(.*)";|built of \[(.*)\]', out.read_text())

    def test_the_commit_is_named_with_a_plus_where_files_differ(self):
        self.assertEqual(self.tree(), [("", "no repository"), ("", "")])
        self.write("a.cpp", "first")
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "one")
        commit = self.git("rev-parse", "HEAD")[:12]
        self.assertEqual(self.tree(), [("", f"commit {commit}"), (commit, "")])
        self.write("not added.cpp", "")
        before = (self.folder / "tree.cpp").stat().st_mtime_ns
        self.assertEqual(self.tree(), [("", f"commit {commit}"), (commit, "")])
        self.assertEqual((self.folder / "tree.cpp").stat().st_mtime_ns, before)
        self.write("a.cpp", "second")
        self.assertEqual(self.tree(), [("", f"commit {commit}+"), (f"{commit}+", "")])

    def abi(self, version="0.1.0", headers="a.hpp\nb.hpp\n"):
        (self.folder / "headers.txt").write_text(headers)
        self.made("kernels/plugin/abi.cmake", self.folder, ROOT=self.source, HEADERS=self.folder / "headers.txt", VERSION=version)
        told = {re.search(r'"(\d[^"]*-[0-9a-f]{12})"', (self.folder / name).read_text())[1]
                for name in ("abi.cpp", "compiled_against.hpp")}
        self.assertEqual(len(told), 1)
        return told.pop()

    def test_kernels_know_the_very_headers_that_they_were_compiled_against(self):
        self.write("a.hpp", "int a;")
        self.write("b.hpp", "int b;")
        first = self.abi()
        self.assertEqual(self.abi(), first)
        self.assertTrue(self.abi("0.2.0").startswith("0.2.0-"))
        self.write("c.hpp", "int b;")
        self.assertNotEqual(self.abi(headers="a.hpp\nc.hpp\n"), first)
        self.write("b.hpp", "long b;")
        self.assertNotEqual(self.abi(), first)
        self.write("a.hpp", "long b;")
        self.write("b.hpp", "int a;")
        self.assertNotEqual(self.abi(), first)

    def test_every_fault_is_named_with_its_bug_and_laws(self):
        self.write("b.cpp", FAULT.format("third", "", '"law_c"') + FAULT.format("second", '\n    .bug = "a bug",', '"law_b"'))
        self.write("a.cu", FAULT.format("first", "", '"law_a", "law_b"'))
        self.write("magnitude.cpp", "int none;\n")
        (self.folder / "files.txt").write_text("".join(f"{self.source / name}\n" for name in ("b.cpp", "magnitude.cpp", "a.cu")))
        self.made("properties/faults/names.cmake", self.folder / "names.cpp", FILES=self.folder / "files.txt")
        self.assertEqual(re.findall(r"^      (\{.*\}),$", (self.folder / "names.cpp").read_text(), re.MULTILINE),
                         ['{"first", "first", {"law_a", "law_b"}}', '{"second", "a bug", {"law_b"}}',
                          '{"third", "third", {"law_c"}}'])


if __name__ == "__main__":
    unittest.main()
