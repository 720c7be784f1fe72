"""The rule of `tally vary` for a program that does not have it yet: what a vary.json says, and what is to be run next."""
import math
import random

ROUNDING = 2.0**-29  # the units of float64 and float32
BOUNDARY = math.sqrt(ROUNDING)
UNIT_64, UNIT_32 = 2.0**-53, 2.0**-24
WHOLE = {"sizes": None, "precision": "float64", "moved": 0, "again": False, "frozen": []}

# By how much the rows of a micro-batch of n weigh more than they should, of N rows in K micro-batches.
FORMULAS = (
    ("1/(K n_k)", lambda n, N, K: N / (K * n), "weighs 1/(K n_k) and should weigh 1/N: each micro-batch's mean is divided by "
     "the number of micro-batches; divide each sum by the window's {N} rows, or weigh each mean by its rows / {N}"),
    ("1/n_k", lambda n, N, K: N / n, "weighs 1/n_k and should weigh 1/N: the means of the micro-batches are added up and "
     "divided by nothing; weigh each mean by its rows / {N}"),
    ("1/K", lambda n, N, K: 1 / K, "weighs 1/K of what it should: all are divided by the number of micro-batches, which what "
     "is divided by the window's rows needs no more; leave that out"),
    ("K", lambda n, N, K: K, "weighs K times what it should: divide by what the window holds"),
)


class Wanted(Exception):
    """What has to be run first."""


def partitions_of(rows, seed, equal_only=False):
    """Ways to deal: equal, a short last one, single rows, and two that are drawn; each once, the coarsest first."""
    if equal_only:
        return [(rows // count,) * count for count in range(2, rows + 1) if rows % count == 0]
    drawn, found = random.Random(seed), []
    for count in (2, 4):
        if rows % count == 0 and rows > count:
            found.append((rows // count,) * count)
    size = -(-rows // 3)
    found.append((size,) * (rows // size) + ((rows % size,) if rows % size else ()))
    for _ in range(2):
        cuts = sorted(drawn.sample(range(1, rows), min(2, rows - 1)))
        found.append(tuple(b - a for a, b in zip([0, *cuts], [*cuts, rows])))
    found.append((1,) * rows)
    return [sizes for sizes in dict.fromkeys(found) if len(sizes) > 1]


def smaller(sizes):
    """Ways to deal that are nearer to the whole: two neighbours put together."""
    return [sizes[:k] + (sizes[k] + sizes[k + 1],) + sizes[k + 2:] for k in range(len(sizes) - 1) if len(sizes) > 2]


def near(a, b):
    return abs(a - b) <= UNIT_64 / BOUNDARY * max(abs(a), abs(b), UNIT_32)


class Rule:
    """Reads one vary.json."""

    def __init__(self, document):
        self.document = document

    def run(self, **ask):
        ask = {**WHOLE, **ask}
        for run in self.document["runs"]:
            if all(run[key] == value for key, value in ask.items()):
                return run
        raise Wanted({"run": ask})

    def far(self, run):
        """By tensor: how far, relative to its largest element; NaN where that is not finite."""
        return {tensor["name"]: float("nan") if None in (tensor["max"], tensor["scale"]) else
                tensor["max"] / tensor["scale"] if tensor["scale"] else tensor["max"] for tensor in run["tensors"]}

    def gap(self, sizes, frozen=()):
        sizes, frozen = list(sizes), list(frozen)
        high, low = self.run(sizes=sizes, frozen=frozen), self.run(sizes=sizes, precision="float32", frozen=frozen)
        error = high["error"] or low["error"]
        if error:
            return {"sizes": sizes, "in_float64": 0.0, "in_float32": 0.0, "tensor": None, "kind": "error", "error": error}
        if high["rows_hash"] != self.run(frozen=frozen)["rows_hash"]:
            return {"sizes": sizes, "in_float64": 0.0, "in_float32": 0.0, "tensor": None, "kind": "rows"}
        moved, far64, far32 = self.far(self.run(moved=1, frozen=frozen)), self.far(high), self.far(low)
        lost = next((name for far in (far64, far32) for name, value in far.items() if math.isnan(value)), None)
        if lost:
            return {"sizes": sizes, "in_float64": None, "in_float32": None, "tensor": lost, "kind": "not finite"}
        shares = {name: max(far32[name], moved[name]) for name in far64}
        bad = [name for name in far64 if not far64[name] <= BOUNDARY * shares[name]]
        whose = max(bad or far64, key=lambda name: far64[name])
        gap = {"sizes": sizes, "in_float64": far64[whose], "in_float32": max(shares.values()), "tensor": whose, "kind": "rounding"}
        if bad:
            there = self.far(self.run(sizes=sizes, moved=1, frozen=frozen))
            gap["kind"] = "meaning" if any(not there[name] <= BOUNDARY * shares[name] for name in bad) else "decision"
        return gap

    def shrunk(self, gap):
        while True:
            found = next((less for less in map(self.gap, smaller(tuple(gap["sizes"]))) if less["kind"] == gap["kind"]), None)
            if found is None:
                return gap
            gap = found

    def weights(self, sizes):
        """Of the first window whose first step is handed another gradient."""
        for window in range(self.document["windows"]):
            fitted = next((weights for weights in self.document["weights"] if (weights["sizes"], weights["window"]) == (sizes, window)),
                          None)
            if fitted is None:
                raise Wanted({"weights": {"sizes": sizes, "window": window}})
            if not fitted["found"] or max(fitted["rest"], fitted["meant_rest"]) > UNIT_64 / BOUNDARY or not all(
                    near(a, b) for a, b in zip(fitted["found"], fitted["meant"])):
                break
        return fitted

    def cause(self, gap):
        """(cause, sentence)."""
        size = ", ".join(map(str, gap["sizes"]))
        if gap["kind"] == "not finite":
            return "not finite", f"micro-batches of {size} rows leave {gap['tensor']} with elements that are not finite"
        if gap["kind"] == "error":
            error = gap["error"]
            return "error", f"micro-batches of {size} rows end in {error['type']} at {error['file']}:{error['line']} ({error['text']})"
        said = f"micro-batches of {size} rows end {gap['in_float64']:.2g} from the whole batch in float64 ({gap['tensor']})"
        steps, of_whole = self.run(sizes=gap["sizes"])["steps"], self.run()["steps"]
        if steps != of_whole:
            return "steps", f"{said}: they make {steps} steps in the windows, the whole batch {of_whole}; step once a window"
        if self.document["layers"]:
            still = self.gap(gap["sizes"], ["batch_norm"])
            if still["kind"] != "meaning":
                names = ", ".join(self.document["layers"])
                return "batch_norm", f"{said}: the gap is gone when what sees the batch stands still: {names}"
        fitted = self.weights(gap["sizes"])
        if not fitted["found"]:
            return "unknown", f"{said}; no gradient that a step was handed tells how"
        if not fitted["meant_rest"] <= UNIT_64 / BOUNDARY:
            return ("rows see each other", f"{said}: the whole batch's gradient is no weighted sum of the micro-batches' own "
                    f"({fitted['meant_rest']:.2g} of it is left over): a row's loss depends on the rows beside it")
        if not fitted["rest"] <= UNIT_64 / BOUNDARY:
            terms = ", ".join(f"{term['name']} ({term['weight']:.4g})" for term in fitted["terms"])
            if terms and fitted["terms_rest"] <= UNIT_64 / BOUNDARY:
                return fitted["terms"][0]["name"], f"{said}: beside the micro-batches' own gradients a step was handed {terms}"
            return ("no sum of the micro-batches", f"{said}: what the first step is handed is no weighted sum of the micro-batches' "
                    f"own gradients ({fitted['rest']:.2g} of it is left over): something is done to each of them, or to some, "
                    "before they are added up")
        found, meant = fitted["found"], fitted["meant"]
        ratios = [a / b if b else math.inf for a, b in zip(found, meant)]
        if all(near(ratio, 1) for ratio in ratios):
            return "behind the first step", f"{said}: the first step is handed what it should be, what follows differs"
        rule = told(ratios, gap["sizes"])
        if rule is None:
            weights, right = (", ".join(f"{value:.4g}" for value in values) for values in (found, meant))
            return "weights", f"{said}: rows of the micro-batches weigh {weights} and should weigh {right}"
        return rule[0], f"{said}: a row of micro-batch k {rule[1]}"

    def verdict(self):
        whole = self.run()
        if whole["error"]:
            error = whole["error"]
            return {"verdict": "error", "sentence": f"vary: found {error['type']} at {error['file']}:{error['line']} ({error['text']}) "
                    "with the whole batch in float64, expected a step that runs; a model that `make` does not return stays in its "
                    "own format"}
        if any(math.isnan(value) for value in self.far(whole).values()):
            return {"verdict": "error", "sentence": "vary: found elements that are not finite behind the whole batch in float64, "
                    "expected finite ones; give rows and a rate at which the loop trains"}
        if not whole["trained"]:
            return {"verdict": "error", "sentence": f"vary: found no tensor of `make` that {self.document['windows']} windows change, "
                    "expected a step that trains; return the models and optimizers of the loop from `make`"}
        again = self.run(again=True)
        if again["rows_hash"] != whole["rows_hash"]:
            return {"verdict": "error", "sentence": "vary: found other rows in a second run, expected the same from the same seed; "
                    "draw them from torch's generator, or keep them"}
        if any(not value == 0 for value in self.far(again).values()):
            return {"verdict": "error", "sentence": "vary: found another end of the same whole batch from the same seed, expected "
                    "the same; make all that the loop keeps in `make`, and draw from torch's generator"}
        gaps = []
        for sizes in partitions_of(self.document["rows"], self.document["seed"], self.document.get("equal_only")):
            gaps.append(self.gap(sizes))
            if gaps[-1]["kind"] == "rows":
                return {"verdict": "error", "sentence": f"micro-batches of {', '.join(map(str, sizes))} rows hold other rows than the whole "
                        "batch; deal the same rows whatever the size of a micro-batch"}
            if gaps[-1]["kind"] in ("meaning", "not finite", "error"):
                least = gaps[-1] if self.document.get("equal_only") else self.shrunk(gaps[-1])
                cause, sentence = self.cause(least)
                return {"verdict": "fail", "cause": cause, "sentence": sentence, "partition": least["sizes"], "drift": 0.0,
                        "gaps": gaps + [least]}
        drift = max(gap["in_float32"] for gap in gaps)
        turned = sum(gap["kind"] == "decision" for gap in gaps)
        said = (f"{len(gaps)} partitions of {self.document['rows']} rows come to the whole batch's parameters; in float32 they end "
                f"within {drift:.2g}" + (f"; in {turned} a decision was turned by rounding" if turned else ""))
        return {"verdict": "pass", "cause": "", "sentence": said, "partition": [], "drift": drift, "gaps": gaps}


def told(ratios, sizes):
    """The formula that the ratios of found and wanted weights follow, and what it says of a row of micro-batch k."""
    rows, count = sum(sizes), len(sizes)
    for formula, of, said in FORMULAS:
        if all(near(ratio, of(size, rows, count)) for ratio, size in zip(ratios, sizes)):
            return formula, said.format(N=rows)
    silent = [k for k, ratio in enumerate(ratios) if near(1 + ratio, 1)]
    if silent and len(silent) < count:
        return "0", (f"weighs nothing for k = {silent[0]} of {count}: that micro-batch leaves nothing in the gradient; clear "
                     "gradients once a window, and step after its last micro-batch")
    return None


def judged(document):
    """What `tally vary --json` prints."""
    try:
        return Rule(document).verdict()
    except Wanted as wanted:
        return {"verdict": "asks", "asks": list(wanted.args)}
