#!/usr/bin/env bash
# TALLY_PRESET names what --no-cuda builds, in a folder of its own; a name that is no preset is refused in one
# line.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
replace clang++-16 <<<"#!/bin/bash
exec $(type -P c++) \"\$@\""  # a machine may lack it
TALLY_PRESET=clang launch --no-cuda list
expect_status $? 0
expect_out list
[[ -x $project/build/clang/reports/tally ]] || fail "expected a build in build/clang"
[[ ! -e $project/build/no-cuda ]] || fail "expected no other build"
TALLY_PRESET=none launch --no-cuda list
expect_status $? 3
expect_line "TALLY_PRESET is 'none'; expected default, no-cuda, cuda, sanitize or clang"
TALLY_PRESET=base launch --no-cuda list
expect_status $? 3
echo '{"version": 6, "configurePresets": [{"name": "mine", "inherits": "no-cuda"}]}' >"$project/CMakeUserPresets.json"
TALLY_PRESET=mine launch --no-cuda list
expect_status $? 0
[[ -x $project/build/mine/reports/tally ]] || fail "expected a build of the user's own preset"
sed -i 's/"no-cuda"/"no-cuda", "cacheVariables": {"MINE": "ON"}/' "$project/CMakeUserPresets.json"
TALLY_PRESET=mine launch --no-cuda list
expect_line 'configuring'
