"""A program that speaks the protocol of steps wrongly, in the way that its argument names. Standard library only."""
import json
import os
import signal
import subprocess
import sys
import time

HOW = sys.argv[1]


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def trace(sha256, header=None, claims="{}", data=b""):
    content = {"__metadata__": {"tally_trace": "1", "case": sha256, "claims": claims}} | (header or {})
    text = json.dumps(content).encode()
    return len(text).to_bytes(8, "little") + text + data


CLAIMS = json.dumps({"subject": "a liar", "constants": "binary64", "divide": "micro_batch", "flushes_subnormals": False,
                     "tensor_cores": False, "kernels": {}})


def lie(request):
    number, sha256 = request["run"], request["sha256"]
    written = {
        "no_trace": b"", "no_safetensors": b"nonsense, and more of it",
        "other_case": trace("0" * 64, claims=CLAIMS), "no_claims": trace(sha256),
        "unknown_dtype": trace(sha256, {"w0/m0/loss/loss": {"dtype": "F1", "shape": [2], "data_offsets": [0, 8]}}, CLAIMS, b"0" * 8),
        "negative_shape": trace(sha256, {"w0/m0/loss/loss": {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]}}, CLAIMS, b"0" * 8),
        "huge_shape": trace(sha256, {"w0/m0/loss/loss": {"dtype": "F32", "shape": [1 << 62], "data_offsets": [0, 8]}}, CLAIMS, b"0" * 8),
        "other_shape": trace(sha256, {"w0/m0/loss/loss": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, CLAIMS, b"0" * 4),
        "no_such_tap": trace(sha256, {"w0/m0/loss/lost": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, CLAIMS, b"0" * 4),
        "no_taps": trace(sha256, claims=CLAIMS)}
    if HOW in written:
        with open(request["trace"], "wb") as file:
            file.write(written[HOW])
        say(json.dumps({"ran": number}))
    elif HOW == "nonsense":
        say("\x1b[31m{ran: 1")
    elif HOW == "not_an_object":
        say("[1, 2]")
    elif HOW == "other_number":
        say(json.dumps({"ran": number + 1}))
    elif HOW == "long_line":
        sys.stdout.write("x" * (1 << 22))
        sys.stdout.flush()
        time.sleep(1000)
    elif HOW == "silent":
        time.sleep(1000)
    elif HOW == "closes":
        os.close(1)
        time.sleep(1000)
    elif HOW == "raises":
        raise ValueError("nobody caught this")
    elif HOW == "leaves_children":
        subprocess.Popen(["setsid", "sleep", "1000"])
        subprocess.Popen(["sh", "-c", "sleep 1000 & sleep 1000"])
        os.kill(os.getpid(), signal.SIGABRT)
    elif HOW == "fails":
        say(json.dumps({"failed": number, "reason": "no luck"}))
    elif HOW == "fails_wordless":
        say(json.dumps({"failed": number}))
    elif HOW == "declines":
        say(json.dumps({"declined": number, "reason": "not today"}))


for line in sys.stdin:
    received = json.loads(line)
    if "run" in received:
        lie(received)
    else:
        say({"greets_wrongly": "hello", "other_version": '{"tally_step": 2}'}.get(HOW, '{"tally_step": 1}'))
