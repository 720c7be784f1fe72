#!/usr/bin/env bash
# An nvcc that compiles is used, in build/default; the answer is kept; --no-cuda leaves it alone.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
mkdir -p "$project/toolkit/bin"
printf '#!/bin/bash\necho "$@" >>%q\n' "$project/compiled" >"$project/toolkit/bin/nvcc" && chmod +x "$project/toolkit/bin/nvcc"
export CUDACXX=$project/toolkit/bin/nvcc

launch verify --no-cuda
expect_status $? 0
[[ ! -e $project/compiled && ! -e $project/build/default ]] || fail "--no-cuda looked at the toolkit"
for _ in first second; do
  launch verify
  expect_status $? 0
done
[[ $(wc -l <"$project/compiled") == 1 ]] || fail "expected one compile probe: $(cat "$project/compiled")"
grep -q "^CMAKE_CUDA_COMPILER:.*=$CUDACXX\$" "$project/build/default/CMakeCache.txt" || fail "configure was not given $CUDACXX"
