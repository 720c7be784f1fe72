"""What is said of small models over tokens: runs that show nothing, numbers that cannot be told, words of errors."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

IGNORED = -100


def fp32(*shape):
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    return {"dtype": "fp32", "shape": list(shape), "data": [(i * 37 % 64 - 32) / 64 for i in range(count)]}


def i64(*numbers):
    return {"dtype": "i64", "shape": [len(numbers)], "data": list(numbers)}


def token_case(windows=((2, 2),), labels=(1, 1, 0, 0), ranks=None, recompute=False, kernels=None, storage="fp32", **recipe):
    """An embedding, a layer and a head over four tokens."""
    none = {"kind": "none"}
    execution = {"ranks": ranks, "recompute": recompute, "kernels": kernels}
    return {
        "tally_case": 3, "windows": list(windows),
        "model": {"input": {"vocabulary": 3}, "loss": {"kind": "cross_entropy"}, "layers": [
            {"kind": "embedding", "name": "wte", "width": 2}, {"kind": "linear", "name": "a", "out": 2, "bias": False},
            {"kind": "linear", "name": "head", "out": 3}]},
        "precision": {"storage": storage, "compute": "fp32", "accumulate": "fp32", "master": "fp32", "tf32": False},
        "recipe": {"optimizer": {"kind": "sgd"}, "learning_rate": {"kind": "constant", "base": 0.125},
                   "weight_decay": none, "clip": none, "loss_scale": none, **recipe},
        "execution": {key: value for key, value in execution.items() if value},
        "tensors": {"tokens": i64(2, 0, 0, 2), "target": i64(*labels), "wte.weight": fp32(3, 2), "a.weight": fp32(2, 2),
                    "head.weight": fp32(3, 2), "head.bias": fp32(3)}}


def tally(*arguments):
    return subprocess.run([sys.argv[1], *map(str, arguments)], capture_output=True, text=True, timeout=120)


class LanguageModels(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def file(self, case):
        path = self.out / "case.json"
        path.write_text(json.dumps(case))
        return path

    def checked(self, case, *options):
        """The last line and exit code of `replay`, then of `check` of what it left."""
        ran = tally("replay", self.file(case), "--dump", self.out / "run", "--subject", "host")
        check = tally("check", self.out / "run/case.json", self.out / "run/trace.safetensors", *options)
        return [((each.stdout or each.stderr).splitlines()[-1], each.returncode) for each in (ran, check)]

    def test_a_dead_run_is_vacuous_in_replay_and_check_by_either_choice_of_lenses(self):
        for windows in ([[2, 2]], [[[2], [2]]]):
            for lens in ("all", "local"):
                for line, code in self.checked(token_case(windows, [IGNORED] * 4), "--lens", lens):
                    self.assertEqual(code, 4, line)
                    self.assertRegex(line, "^vacuous: every gradient that a step took .*; no row counts, as each is ignored")
        tally("check", self.out / "run/case.json", self.out / "run/trace.safetensors", "--out", self.out / "page")
        said = json.loads((self.out / "page/check.json").read_text())
        self.assertEqual(said["verdict"], "vacuous")
        self.assertIn("dead runs agree", said["sentence"])
        self.assertIn("VACUOUS  every gradient", (self.out / "page/report.html").read_text())

    def test_windows_that_overflow_are_no_zero_gradients(self):
        overflows = {"storage": "fp16", "loss_scale": {"kind": "dynamic", "initial": 2**24}}
        for line, code in self.checked(token_case([[2], [2]], [0, 1, IGNORED, IGNORED], **overflows)):
            self.assertEqual(code, 4, line)
            self.assertIn("; window 0 overflowed, without a step; no row of window 1 counts", line)

    def test_a_pass_without_a_step_says_what_was_not_judged(self):
        case = token_case([[2], [2]], storage="fp16", loss_scale={"kind": "dynamic", "initial": 2**24},
                          clip={"kind": "value", "max_value": 1})
        (replay, code), (check, of_check) = self.checked(case)
        self.assertEqual((code, of_check), (0, 0))
        left = "not judged: unscale, clip and the optimizer's step"
        self.assertEqual(replay, "pass: " + left + ": every window overflowed and was skipped")
        self.assertEqual(check, "pass, but " + left)

    def test_a_head_in_chunks_is_judged_by_the_local_lens_as_a_group(self):
        case = token_case(kernels={"head_loss": "chunked"})
        self.assertEqual(self.checked(case, "--lens", "local"), [("pass", 0), ("pass", 0)])

    def attention(self, lengths):
        case = token_case(optimizer={"kind": "lion"})
        layers = [{"kind": "embedding", "name": "wte", "width": 2},
                  *({"kind": "linear", "name": name, "out": 2, "inputs": ["wte"]} for name in "qkv"),
                  {"kind": "attention", "name": "att", "heads": 1, "inputs": ["q", "k", "v"]},
                  {"kind": "linear", "name": "head", "out": 3}]
        case["model"]["layers"], case["sequences"] = layers, lengths
        del case["tensors"]["a.weight"]
        for name in "qkv":
            case["tensors"].update({name + ".weight": fp32(2, 2), name + ".bias": fp32(2)})
        return self.file(case)

    def test_a_sequence_of_one_token_gives_its_key_exactly_nothing(self):
        told = tally("oracle", self.attention([1, 1, 1, 1]))
        self.assertEqual(told.returncode, 0, told.stderr)
        window = json.loads(told.stdout)["accumulated"][0]
        for name in ("q.weight", "q.bias", "k.weight", "k.bias"):
            self.assertEqual(set(window["grad"][name]["data"]), {"0"})

    def test_a_sign_that_no_precision_decides_is_the_cases(self):
        told = tally("oracle", self.attention([2, 2]))
        self.assertEqual(told.returncode, 2)
        self.assertRegex(told.stderr, "step of k.bias: a sign that cannot be decided")

    def test_so_is_a_tie_of_numbers_that_are_not_exact(self):
        case = token_case([[1]])
        case["model"] = {"input": 2, "loss": {"kind": "mse"}, "layers": [
            {"kind": "tanh"}, {"kind": "linear", "name": "a", "out": 1, "bias": False}, {"kind": "relu"}]}
        numbers = {"x": [1, 2, [0.5, 0.5]], "a.weight": [1, 2, [1, -1]], "target": [1, 1, [1]]}
        case["tensors"] = {name: {"dtype": "fp32", "shape": [rows, columns], "data": data}
                           for name, (rows, columns, data) in numbers.items()}
        told = tally("oracle", self.file(case))
        self.assertEqual(told.returncode, 2, told.stderr)
        self.assertRegex(told.stderr, "forward of relu#2: ")

    def test_a_cut_of_a_tied_table_is_told_by_the_table(self):
        case = token_case(ranks={"pipeline": {"stages": 2, "cut": [1]}})
        case["model"]["layers"][-1] = {"kind": "linear", "name": "head", "tied": "wte", "bias": False}
        del case["tensors"]["head.weight"], case["tensors"]["head.bias"]
        told = tally("oracle", self.file(case)).stderr
        self.assertRegex(told, 'found "head" tied to the table of "wte" in front of layer 1, "a", expected no cut')

    def test_a_message_expects_one_thing(self):
        told = tally("oracle", self.file({**token_case(), "tensors": {"file": "none.safetensors"}})).stderr
        self.assertIn("there is none, expected a readable safetensors file", told)
        self.assertEqual(told.count("expected"), 1)

    def test_what_a_framework_refuses_is_told_by_the_option(self):
        case = token_case([[[2], [2]]], ranks={"pipeline": {"stages": 2, "cut": [1]}})
        told = tally("replay", self.file(case), "--ranks-as", "fsdp2")
        self.assertEqual(told.returncode, 2, told.stdout)
        self.assertRegex(told.stderr, "^error: --ranks-as fsdp2: ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
