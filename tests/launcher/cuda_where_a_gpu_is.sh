#!/usr/bin/env bash
# CUDA is built where a GPU is, or when it is asked for; an nvcc alone is left alone. The nvcc that was found is kept.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
mkdir -p "$project/toolkit/bin"
printf '#!/bin/bash\necho "$@" >>%q\n' "$project/compiled" >"$project/toolkit/bin/nvcc" && chmod +x "$project/toolkit/bin/nvcc"
export CUDACXX=$project/toolkit/bin/nvcc
cache=$project/build/default/CMakeCache.txt

leaves_it() {  # ARGUMENTS…
  launch "$@"
  expect_status $? 0
  [[ ! -e $project/compiled && ! -e $project/build/default && -e $project/build/no-cuda ]] || fail "$*: looked at the toolkit"
  rm -r "$project/build"
}
uses_it() {  # ARGUMENTS…
  for _ in first second; do
    launch "$@"
    expect_status $? 0
  done
  [[ $(wc -l <"$project/compiled") == 1 ]] || fail "$*: expected one compile probe: $(cat "$project/compiled")"
  grep -q "^CMAKE_CUDA_COMPILER:.*=$CUDACXX\$" "$cache" || fail "$*: configure was not given $CUDACXX"
  grep -q '^TALLY_CUDA:.*=ON$' "$cache" || fail "$*: configure was not asked for CUDA"
  [[ ! -e $project/build/no-cuda ]] || fail "$*: expected no other build"
}

leaves_it verify
expect_err 'without CUDA: no GPU is here'
leaves_it test
uses_it verify --cuda
rm -r "$project/build" "$project/compiled"
TALLY_CUDA=ON uses_it list

# A GPU that comes, other architectures, another compiler and other libraries are other set-ups, as are faults that are
# wanted.
ln -s "$(type -P c++)" "$bin/other++"
for change in gpu CUDAARCHS=90 TALLY_CUDA_FAULTS=ON CXX=other++ "CMAKE_PREFIX_PATH=$project"; do
  case $change in
    gpu) touch "$project/gpu" ;;
    *) export "${change?}" ;;
  esac
  TALLY_CUDA=ON launch list
  expect_err 'configuring'
done
grep -q '^TALLY_CUDA_FAULTS:.*=ON$' "$cache" || fail "configure was not asked for faults"
unset CUDAARCHS TALLY_CUDA_FAULTS CXX CMAKE_PREFIX_PATH

rm -r "$project/build" "$project/compiled"
uses_it verify
rm -r "$project/build" "$project/compiled"
leaves_it verify --no-cuda
TALLY_CUDA=OFF leaves_it verify
TALLY_CUDA=maybe launch verify
expect_status $? 3
expect_line "TALLY_CUDA is 'maybe'; expected AUTO, ON or OFF"
