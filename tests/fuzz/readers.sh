#!/usr/bin/env bash
# Fuzzes the readers of stored files: readers.sh FOLDER [SECONDS]. The program is built in FOLDER, with libFuzzer and
# sanitizers, where its sources are newer; for less than a minute without optimisation, as compiling would take longer
# than what it saves. Exit status 77 without clang++-16.
set -euo pipefail
folder=${1:?expected a folder to build in} seconds=${2:-10}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
clang=$(type -P clang++-16) || { echo "clang++-16 is missing: not run"; exit 77; }
mkdir -p "$folder/corpus"
folder=$(cd "$folder" && pwd)
cd "$root"
program=$folder/readers_fuzz
optimised=-O1
((seconds >= 60)) || optimised=-O0
sources=(tests/fuzz/readers_fuzz.cpp reports/{record,census,text,statistics}/*.cpp reports/compare/entry.cpp
  reports/gate/{baseline,waivers}.cpp reports/history/history.cpp)
if [[ ! -x $program || -n $(find tests/fuzz/readers_fuzz.cpp reports -name '*.[ch]pp' -newer "$program" -print -quit) ]]; then
  "$clang" -std=c++20 "$optimised" -g1 -I. -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all "${sources[@]}" \
    -lcrypto -o "$program"
fi
"$program" -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
  -artifact_prefix="$folder/" "$folder/corpus" tests/fuzz/corpus
