#!/bin/sh
# Runs a few cases of every law on the CUDA device under one tool of NVIDIA's compute-sanitizer:
# run.sh TOOL TALLY OUT. Exits 77, with the reason, where there is no compute-sanitizer or no device.
tool=$1
tally=$2
out=$3
export PATH="$PATH:/usr/local/cuda/bin"
command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer on the path, nor in /usr/local/cuda/bin"; exit 77; }
verify() { "$@" verify --subject cuda --effort 0.02 --no-training --processes 1 --out "$out"; }
verify "$tally" || exit  # 77 without a device; a law that fails without the tool is no finding of it
verify compute-sanitizer --tool "$tool" --error-exitcode 99 "$tally"
