#!/usr/bin/env bash
# Where an nvcc is, .ci/run asks for CUDA, for every architecture, GPU or not; what is set stays. The launcher installs
# unasked and is given what .ci/run was given; where it leaves no results, nothing has passed.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
cp -r "$repository/.ci" "$project"
# This machine's compilers aside.
sed -i 's| /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc||' "$project/.ci/run"
# shellcheck disable=SC2016
printf '#!/bin/bash\necho "$TALLY_CUDA:$CUDAARCHS:$TALLY_CUDA_FAULTS: $1"\nprintf "%%s\\n" "$CI" "${TALLY_CI_BEGAN-}" "$@" >"${0%%/*}/told"\n' >"$project/tally"
rm -f "$bin/nvcc"

asks() { PATH=$bin TALLY_CI_BARE=0 "$project/.ci/run" >"$project/out" 2>"$project/err"; expect_out "$1"; }  # TEXT
asks '::: test'
replace nvcc <<<'#!/bin/true'
asks 'ON:80;90;100:: test'
CUDAARCHS=90 TALLY_CUDA_FAULTS=OFF asks 'ON:90:OFF: test'
TALLY_CUDA=OFF asks 'OFF:80;90;100:: test'
rm "$bin/nvcc"
mkdir -p "$project/build/cuda/bin" && cp "$bin/true" "$project/build/cuda/bin/nvcc"
asks 'ON:80;90;100:: test'
rm -r "$project/build"
replace other <<<'#!/bin/true'
CUDACXX=$bin/other asks 'ON:80;90;100:: test'

TALLY_CI_BEGAN=1 TALLY_CI_BARE=0 "$project/.ci/run" -R 'two words' >"$project/out" 2>"$project/err"
expect_status $? 1
expect_line 'no test ran: ./tally test ended with 0'
[[ $(cat "$project/told") == $'true\n\ntest\n--output-junit\n'"$project/build/junit.xml"$'\n-R\ntwo words' ]] || fail "told: $(cat "$project/told")"
