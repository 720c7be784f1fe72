"""What PyTorch's kernels claim beside "computes in fp32 and rounds once": a file for each device and version."""
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def path_of(name):
    return os.path.join(HERE, f"{name}.json")


def claims_of(name):
    """Numbers by "operation/format/claim"; None where no profile of that name is kept."""
    try:
        with open(path_of(name), encoding="utf-8") as file:
            return {claim: said["value"] for claim, said in json.load(file)["claims"].items()}
    except FileNotFoundError:
        return None
