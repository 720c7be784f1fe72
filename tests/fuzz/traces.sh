#!/usr/bin/env bash
# Fuzzes traces together with their case, as `tally check` reads and judges them: traces.sh FOLDER BUILD [SECONDS]. What
# reads and judges is compiled in FOLDER with libFuzzer and sanitizers, where its sources are newer; for less than a
# minute that is what reads alone, as compiling the rest takes ten minutes. The mathematics behind it is BUILD's, whose
# program also makes the first inputs. Exit status 77 without clang++-16.
set -euo pipefail
folder=${1:?expected a folder to build in} build=${2:?expected a build folder} seconds=${3:-10}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export clang; clang=$(type -P clang++-16) || { echo "clang++-16 is missing: not run"; exit 77; }
mkdir -p "$folder/corpus" "$folder/seeds" "$folder/objects"
export folder; folder=$(cd "$folder" && pwd)
build=$(cd "$build" && pwd)
cd "$root"
sources=(tests/fuzz/traces_fuzz.cpp kernels/trace/*.cpp properties/diagnosis/judged_capture.cpp
  oracle/case/file/{findings,json,json_parse,read_case,read_parts,read_tensor,safetensors,token}.cpp
  oracle/case/tensors/{bytes,tensor}.cpp)
if ((seconds >= 60)); then
  sources=(tests/fuzz/traces_fuzz.cpp oracle/case/{,*/}*.cpp oracle/layers/claim.cpp oracle/losses/*_bound.cpp
    kernels/trace/*.cpp properties/judge/*.cpp properties/diagnosis/{judged_capture,diagnose,evidence}.cpp
    properties/diagnosis/sentences.cpp)
fi
compile() {
  local object=$folder/objects/${1//\//_}.o
  [[ ! -f $object || -n $(find "$1" oracle kernels/trace properties reports/record -name '*.hpp' -newer "$object" -print -quit) || $1 -nt $object ]] ||
    return 0
  "$clang" -std=c++20 -O1 -g1 -I. -isystem /usr/include/eigen3 -ffp-contract=off \
    -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -c "$1" -o "$object"
}
export -f compile
printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'compile "$0"'
ours=()
for source in "${sources[@]}"; do ours+=("$folder/objects/${source//\//_}.o"); done  # none of a source that is gone
theirs=()  # what is in ours as well is taken from there
for object in $(find "$build"/{oracle/CMakeFiles/tally_oracle,properties/CMakeFiles/tally_judging,reports/CMakeFiles/tally_records}.dir \
  -name '*.cpp.o' | sort); do
  source=${object/CMakeFiles\/tally_*.dir\//}; source=${source%.o}
  [[ ! -f $source && ! -f ${source#"$build"/} ]] || theirs+=("$object")  # else left behind by a source that is gone
done
"$clang" -fsanitize=fuzzer,address,undefined -Wl,-z,muldefs "${ours[@]}" "${theirs[@]}" -lflint-arb -lflint -lmpfr -lgmp -lz -lcrypto \
  -o "$folder/traces_fuzz"
for case in tests/readme/uneven_micro_batches.json tests/oracle/case/valid/{attention_that_drops,tied_weight,tokens,resumed_sgd,adam_fp16_dynamic_scale,narrow_everywhere,dropout_bf16_ignored_micro_batch,frozen_statistics_sum_tf32}.json; do
  "$build/reports/tally" replay "$case" --subject host --dump "$folder/run" >/dev/null 2>&1 || true
  { cat "$folder/run/case.json"; printf '\0'; cat "$folder/run/trace.safetensors"; } >"$folder/seeds/$(basename "$case")"
done
TMPDIR=$folder/run "$folder/traces_fuzz" -max_total_time="$seconds" -max_len=262144 -timeout=60 -rss_limit_mb=2048 -detect_leaks=0 -print_final_stats=1 \
  -artifact_prefix="$folder/" "$folder/corpus" "$folder/seeds"
