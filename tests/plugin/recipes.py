"""The recipes of a project that is not Tally (reports/ci/project): they are YAML, say the same, keep their files, and
what they run is run here, on the example with a change. usage: recipes.py BUILD; exits 77 without PyYAML."""
import pathlib
import shutil
import sys
import unittest

try:
    import yaml
except ImportError:
    print("skipped: no PyYAML here")
    sys.exit(77)

from project import ENVIRONMENT, EXAMPLE, Folder, cmake_lists, run

RECIPES = pathlib.Path(__file__).resolve().parents[2] / "reports" / "ci" / "project"
CALL = "bash ci/gate.sh layer_norm layer_norm.forward=mine"
KERNEL = (EXAMPLE / "layer_norm.cu").read_text()
ASKED = ("add_equivalence_test(NAME layer_norm OPERATION layer_norm.forward=mine LAWS layer_norm_leaves_no_gap\n"
         "  PRECISIONS fp32 EFFORT 0.3)")


class Recipes(unittest.TestCase):
    def test_both_say_the_same_and_keep_their_files(self):
        github = yaml.safe_load((RECIPES / "github.yml").read_text())["jobs"]["equivalence"]
        gitlab = yaml.safe_load((RECIPES / "gitlab.yml").read_text())["equivalence"]
        steps = "\n".join(step.get("run", "") for step in github["steps"])
        commands = "\n".join(gitlab["before_script"] + gitlab["script"])
        for text in (steps, commands):
            for part in (CALL, "git ca-certificates cmake ninja-build g++ clang-16", "./packages/tally_*.deb",
                         "reports/ci/project/package.sh packages", 'checkout --detach "$TALLY_COMMIT"'):
                self.assertIn(part, " ".join(text.split()))
        self.assertEqual((github["container"], gitlab["image"]), ("debian:12", "debian:12"))
        self.assertEqual(github["steps"][-1]["if"], "always()")
        self.assertEqual((gitlab["artifacts"]["when"], gitlab["artifacts"]["reports"]["junit"]), ("always", "out/junit.xml"))

    def test_what_they_run_compares_a_change_with_the_target_branch(self):
        folder = Folder(sys.argv[1])
        self.addCleanup(folder.close)
        folder.install()
        source = folder.root / "repository"
        (source / "ci").mkdir(parents=True)
        shutil.copy(RECIPES / "gate.sh", source / "ci")
        self.commit(source, "first", ".gitignore", "build/\nout/\n")
        self.assertIn("first has no such project", self.ran(folder, source, "first", KERNEL))
        self.commit(source, "second", "layer_norm.cu", KERNEL)
        changed = KERNEL.replace("j = 0; j < features; ++j) sum", "j = features; j-- > 0;) sum")
        told = self.ran(folder, source, "second", changed)
        self.assertRegex(told, r"layer_norm\.host \.+ +Passed")
        self.assertRegex(told, r"1 kernel changed \(layer_norm\.forward/mine\)")
        self.assertTrue((source / "out" / "junit.xml").is_file() and (source / "out" / "change" / "summary.md").is_file())
        wrong = KERNEL.replace("__fsqrt_rn(__fadd_rn(variance, eps))", "__fadd_rn(__fsqrt_rn(variance), eps)")
        self.assertIn("FAIL   layer_norm_leaves_no_gap", self.ran(folder, source, "first", wrong, code=8))

    def commit(self, source, tag, file, text):
        (source / file).write_text(text)
        if not (source / ".git").exists():
            run("git", "init", "--quiet", cwd=source)
        run("git", "add", "--all", cwd=source)
        run("git", "-c", "user.name=tests", "-c", "user.email=tests@example.org", "commit", "--quiet", "--message", tag,
            cwd=source)
        run("git", "tag", tag, cwd=source)

    def ran(self, folder, source, revision, kernel, code=0):
        (source / "CMakeLists.txt").write_text(cmake_lists(ASKED))
        (source / "layer_norm.cu").write_text(kernel)
        for name, value in {"CMAKE_PREFIX_PATH": str(folder.prefix), "CMAKE_BUILD_PARALLEL_LEVEL": "2"}.items():
            ENVIRONMENT[name] = value
        return run(*CALL.split(), revision, "out", "--law", "layer_norm_leaves_no_gap", "--precision", "fp32", "--effort", "0.3",
                   cwd=source, code=code)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
