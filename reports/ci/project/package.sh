#!/usr/bin/env bash
# Makes Tally's Debian package, in this checkout of it: package.sh FOLDER. Sets up and builds what is missing, without
# CUDA; TALLY_BUILD=DIR packages that build as it is.
set -euo pipefail
folder=$(realpath -m "${1:?usage: package.sh FOLDER}")
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
./tally --no-cuda --version
build=$(realpath "${TALLY_BUILD:-build/no-cuda}")
ninja -C "$build" tally_object
cd "$build" && cpack -G DEB -B "$folder"
