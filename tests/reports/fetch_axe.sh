#!/usr/bin/env bash
# Fetches axe-core, with which axe_test.py looks at the pages, into FOLDER/axe.min.js: usage fetch_axe.sh FOLDER
# Debian has no package of it; a pinned and hash-checked wheel carries it (MPL-2.0, used by tests alone).
set -euo pipefail
folder=$1
[[ ! -s $folder/axe.min.js ]] || exit 0
part=$(mktemp -d)
trap 'rm -rf "$part"' EXIT
echo 'axe-playwright-python==0.1.8 --hash=sha256:fdd263c998388f1a8e67cad02677e612d946248bd44d163be5e8650ea31f95f8' >"$part/wheels.txt"
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes \
  --dest "$part" --requirement "$part/wheels.txt"
python3 -m zipfile -e "$part"/*.whl "$part"
mkdir -p "$folder"
mv "$part/axe_playwright_python/axe.min.js" "$folder/axe.min.js"
