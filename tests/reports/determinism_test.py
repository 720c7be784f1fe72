"""The samples' reports are the same bytes wherever they are made: determinism_test.py FOLDER.

TALLY_WRITE_SAMPLES names the program that wrote FOLDER."""
import os
import pathlib
import subprocess
import sys
import tempfile

ELSEWHERE = {"TZ": "Asia/Kathmandu", "LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8", "HOME": "/", "USER": "nobody",
             "OMP_NUM_THREADS": "7", "SOURCE_DATE_EPOCH": "1", "PATH": os.environ["PATH"]}


def files(folder):
    return {p.relative_to(folder): p.read_bytes() for p in sorted(pathlib.Path(folder).rglob("*")) if p.is_file()}


def main(folder):
    with tempfile.TemporaryDirectory() as other:
        subprocess.run([os.environ["TALLY_WRITE_SAMPLES"], other + "/pages"], env=ELSEWHERE, cwd=other, umask=0o077,
                       check=True)
        here, there = files(folder), files(other + "/pages")
    found = [f"{name} differs" for name in sorted(here.keys() & there.keys()) if here[name] != there[name]]
    found += [f"{name} is only in one" for name in sorted(here.keys() ^ there.keys())]
    print("\n".join(found) or f"{len(here)} files, byte for byte")
    return 1 if found or not here else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
