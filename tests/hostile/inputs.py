"""Hostile inputs over everything that Tally reads. One is drawn from a seed and a number: always the same one."""
import base64
import json
import pathlib
import random
import struct
import zlib

import alterations


class Input:
    """The words of a command, and the files that they name."""

    def __init__(self, kind, words, files):
        self.kind, self.words, self.files = kind, words, files


def token_of(text):
    return "tly1:" + base64.b32encode(zlib.compress(text)).decode().lower().rstrip("=")


def altered_text(document, draw):
    text = alterations.text_of(alterations.altered(document, draw))
    for _ in range(draw.choice([0, 0, 1])):
        text = alterations.text_of(alterations.altered(document, draw))
    data = text.encode("utf-8", "surrogatepass")
    return alterations.damaged(data, draw) if draw.random() < 0.25 else data


class Trace:
    """A safetensors file taken apart."""

    def __init__(self, data):
        length = struct.unpack("<Q", data[:8])[0]
        self.header = json.loads(data[8:8 + length])
        self.data = data[8 + length:]

    def taps(self):
        return [name for name in self.header if name != "__metadata__"]

    def joined(self, header_text=None, length=None):
        text = header_text if header_text is not None else json.dumps(self.header).encode()
        return struct.pack("<Q", len(text) if length is None else length) + text + self.data


WHOLE = [-1, -2**63, 2**63 - 1, 2**40, 1000, 2, 255]
REAL = [float("nan"), float("inf"), float("-inf"), 3e38, -3e38, 1e-45, -0.0, 0.5]
FORMS = {"I64": "<q", "F32": "<f", "F16": "<e"}


def poisoned(trace, draw):
    """One element of one tap, scalars as often as tensors."""
    taps = [t for t in trace.taps() if trace.header[t]["data_offsets"][0] != trace.header[t]["data_offsets"][1]]
    scalars = [t for t in taps if trace.header[t]["shape"] == []]
    tap = trace.header[draw.choice(scalars if scalars and draw.random() < 0.5 else taps)]
    begin, dtype, data = tap["data_offsets"][0], tap["dtype"], bytearray(trace.data)
    if dtype == "U8":
        data[begin] = draw.choice([1, 2, 255])
    elif dtype == "BF16":
        data[begin:begin + 2] = draw.choice([b"\xc0\x7f", b"\x80\x7f", b"\x80\xff", b"\x7f\x7f"])
    elif dtype == "F16":
        data[begin:begin + 2] = draw.choice([b"\x00\x7e", b"\x00\x7c", b"\x00\xfc", b"\xff\x7b"])
    else:
        packed = struct.pack(FORMS[dtype], draw.choice(WHOLE if dtype == "I64" else REAL))
        data[begin:begin + len(packed)] = packed
    trace.data = bytes(data)
    return trace.joined()


def without_a_tap(trace, draw):
    """The tap's bytes go too, so that the file fits itself."""
    gone = draw.choice(trace.taps())
    begin, end = trace.header.pop(gone)["data_offsets"]
    for name in trace.taps():
        tap = trace.header[name]
        if tap["data_offsets"][0] >= end:
            tap["data_offsets"] = [offset - (end - begin) for offset in tap["data_offsets"]]
    trace.data = trace.data[:begin] + trace.data[end:]
    return trace.joined()


def renamed(trace, draw):
    name = draw.choice(trace.taps())
    other = draw.choice([name.replace("w0", "w9"), name.replace("m0", "m77"), draw.choice(trace.taps()), name + ".x",
                         "w0/m0/loss/in.target", "w0/" + draw.choice(alterations.TEXTS)[:300], name.replace("in.", "")])
    text = json.dumps(trace.header).replace(json.dumps(name) + ":", json.dumps(other) + ":", 1)
    return trace.joined(text.encode("utf-8", "surrogatepass"))


def other_claims(trace, draw):
    metadata = trace.header["__metadata__"]
    key = draw.choice(["claims", "claims", "claims", "case", "order", "groups", "tally_trace"])
    if key == "claims":
        claims = alterations.altered(json.loads(metadata["claims"]), draw)
        metadata["claims"] = alterations.text_of(claims)
    else:
        metadata[key] = draw.choice(alterations.TEXTS + ["unscale..optimizer", "forward..nothing", "schedule..cast\n" * 50])
    return trace.joined(json.dumps(trace.header).encode("utf-8", "surrogatepass"))


def other_header(trace, draw):
    text = alterations.text_of(alterations.altered(trace.header, draw))
    return trace.joined(text.encode("utf-8", "surrogatepass"))


def other_length(trace, draw):
    return trace.joined(length=draw.choice([0, 1, 2**63, 2**64 - 1, 100_000_000, len(trace.data), 7]))


TRACES = [poisoned, poisoned, poisoned, without_a_tap, renamed, other_claims, other_claims, other_header, other_length,
          lambda trace, draw: alterations.damaged(trace.joined(), draw)]


class Inputs:
    def __init__(self, root, dumped, seed):
        root, self.seed = pathlib.Path(root), seed
        valid = sorted((root / "tests/oracle/case/valid").glob("*.json"))
        self.cases = [json.loads(path.read_text()) for path in valid if "in_a_file" not in path.name]
        self.traces = [(folder / "case.json", folder / "trace.safetensors") for folder in sorted(pathlib.Path(dumped).iterdir())]
        corpus = root / "tests/fuzz/corpus"
        self.stored = {path.stem: path.read_bytes()[1:] for path in corpus.iterdir()}
        self.kinds = [self.case, self.token, self.trace, self.trace, self.trace, self.results, self.study, self.baseline,
                      self.waivers, self.history, self.options, self.vary]

    def drawn(self, number):
        draw = random.Random(f"{self.seed}/{number}")
        return self.kinds[number % len(self.kinds)](draw)

    def case(self, draw):
        data = altered_text(draw.choice(self.cases), draw)
        command = draw.choice([["oracle", "case.json", "--digits", "9"], ["replay", "case.json", "--subject", "host"],
                               ["replay", "case.json", "--subject", "host", "--dump", "out"],
                               ["check", "case.json", "trace.safetensors"]])
        return Input("case", command, {"case.json": data, "trace.safetensors": self.traces[0][1].read_bytes()})

    def token(self, draw):
        token = token_of(altered_text(draw.choice(self.cases), draw))
        if draw.random() < 0.3:
            token = alterations.damaged(token.encode(), draw).replace(b"\0", b"").decode("utf-8", "replace")
        return Input("token", ["replay", token[:100_000], "--subject", "host"], {})

    def trace(self, draw):
        case, trace = draw.choice(self.traces)
        data = draw.choice(TRACES)(Trace(trace.read_bytes()), draw)
        return Input("trace", ["check", "case.json", "trace.safetensors"],
                     {"case.json": case.read_bytes(), "trace.safetensors": data})

    def stored_json(self, name, draw):
        return altered_text(json.loads(self.stored[name]), draw)

    def results(self, draw):
        command = draw.choice([["report", "r.json", "--out", "out"], ["merge", "r.json", "--out", "out"],
                               ["explain", "1", "--results", "r.json"], ["compare", "r.json", "good.json"],
                               ["gate", "r.json", "--baseline", "b.json"],
                               ["history", "add", "r.json", "--history", "out.jsonl"]])
        return Input("results", command, {"r.json": self.stored_json("results", draw), "good.json": self.stored["results"],
                                          "b.json": self.stored["baseline"]})

    def study(self, draw):
        return Input("study", ["report", "good.json", "--out", "out", "--study", "s.json"],
                     {"s.json": self.stored_json("study", draw), "good.json": self.stored["results"]})

    def baseline(self, draw):
        command = draw.choice([["gate", "good.json", "--baseline", "b.json"], ["baseline", "show", "b.json"],
                               ["baseline", "verify", "b.json"],
                               ["bless", "good.json", "--baseline", "b.json", "--reason", "a good one", "--allow-ci"]])
        return Input("baseline", command, {"b.json": self.stored_json("baseline", draw), "good.json": self.stored["results"]})

    def waivers(self, draw):
        data = alterations.damaged(self.stored["waivers"], draw)
        return Input("waivers", ["gate", "good.json", "--baseline", "b.json", "--waivers", "w.toml"],
                     {"w.toml": data, "good.json": self.stored["results"], "b.json": self.stored["baseline"]})

    def history(self, draw):
        line = altered_text(json.loads(self.stored["history"]), draw)
        data = self.stored["history"] * draw.choice([0, 1, 3]) + line + draw.choice([b"\n", b"\n", b""])
        return Input("history", draw.choice([["history", "show", "h.jsonl"], ["report", "good.json", "--out", "out", "--history", "h.jsonl"]]),
                     {"h.jsonl": data, "good.json": self.stored["results"]})

    def vary(self, draw):
        return Input("vary", draw.choice([["vary", ".", "--json"], ["vary", ".", "--out", "out"]]),
                     {"vary.json": self.stored_json("vary", draw)})

    def options(self, draw):
        word = draw.choice(["-1", "0", "nan", "inf", "1e10", "1e300", "99999999999999999999", "", " ", "x", "\x1b[31m",
                            "../x", "a=b", "=", "1/0", "5/4", "0/0", "2027-02-30", "*" * 40, "--", "é", "tly1:"])
        option = draw.choice(["--case-time", "--effort", "--seed", "--cases", "--law", "--precision", "--shard",
                              "--processes", "--magnitude", "--kernel", "--fault", "--subject", "--nothing", "--time"])
        command = draw.choice([["verify", "--no-training", "--out", "out"], ["replay", "case.json"], ["faults", "no-such-fault"],
                               ["sweep", "no_such_sweep"], ["gate", "good.json", "--baseline", "b.json", "--today"],
                               ["oracle", "case.json", "--digits"], ["list"], ["explain"], ["doctor", "--probe"]])
        words = command + ([word] if command[0] in ("list", "explain", "doctor") or command[-1].startswith("--") else [option, word])
        if command[0] == "verify":  # what is legal runs the least there is
            rest = {"--law": "exact_lane", "--precision": "fp32", "--cases": "1", "--processes": "1", "--subject": "host"}
            rest.pop(option, None)
            if option == "--effort":
                rest.pop("--cases")
            words += [each for pair in rest.items() for each in pair]
        return Input("options", words, {"case.json": self.traces[0][0].read_bytes(), "good.json": self.stored["results"],
                                        "b.json": self.stored["baseline"]})
