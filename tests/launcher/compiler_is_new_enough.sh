#!/usr/bin/env bash
# A compiler that is too old or none is named in one line with what is expected, before anything is configured.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
compiler() { printf '#!/bin/bash\n[[ $1 != -dM ]] || exec printf %q\nexec %q "$@"\n' "$1" "$(type -P c++)" | replace c++; }  # MACROS

refuses() {  # TEXT
  launch --no-cuda list
  expect_status $? 3
  expect_out ''
  expect_line "$1"
  [[ ! -e $project/build/no-cuda/build.ninja ]] || fail "configured all the same"
}
compiler '#define __GNUC__ 11\n#define __GNUC_MINOR__ 4\n'
refuses 'c++ is GCC 11; expected GCC 12 or clang 16, or newer: CXX=NAME names another'
compiler '#define __GNUC__ 4\n#define __clang_major__ 15\n'
refuses 'c++ is clang 15; expected GCC 12 or clang 16, or newer: CXX=NAME names another'
CXX=nothing++ refuses 'nothing++ is no C++ compiler; expected GCC 12 or clang 16, or newer: CXX=NAME names one'
rm "$bin/c++"
refuses 'missing; this line brings it: '
expect_err 'g++'

compiler '#define __GNUC__ 4\n#define __clang_major__ 16\n'
launch --no-cuda list
expect_status $? 0
