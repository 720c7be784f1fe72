#!/usr/bin/env bash
# What the recipes of a project run, to be copied into it: builds the project against the installed Tally, runs its tests,
# and holds its kernel against the one of a revision, on the same cases.
#   gate.sh NAME OPERATION=VARIANT REVISION OUT [OPTIONS OF GATE…]    NAME as in add_equivalence_test
# Exits with what the tests found, or else as the gate does: 0 pass, 1 failed.
set -uo pipefail
name=${1:?usage: gate.sh NAME OPERATION=VARIANT REVISION OUT} kernel=${2:?OPERATION=VARIANT} revision=${3:?REVISION} out=${4:?OUT}
shift 4
# A container's root works on a checkout of somebody else: git asks to be told that this is meant.
git rev-parse --git-dir >/dev/null 2>&1 || git config --global --add safe.directory "$PWD"

mkdir -p "$out" || exit 3
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release || exit 3
cmake --build build || exit 3
ctest --test-dir build --no-tests=error --output-on-failure --output-junit "$(realpath "$out")/junit.xml"
tested=$?
if git cat-file -e "$revision:./CMakeLists.txt" 2>/dev/null; then
  "build/${name}_tally" gate --against "$revision" --subject host --kernel-in-both "$kernel" --out "$out/change" "$@"
  gated=$?
else
  echo "$revision has no such project: nothing to compare with"
  gated=0
fi
((tested == 0)) || exit "$tested"
exit "$gated"
