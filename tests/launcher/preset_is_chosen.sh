#!/usr/bin/env bash
# TALLY_PRESET names what --no-cuda builds, in a folder of its own; a name that is no preset is an error of the set-up.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
TALLY_PRESET=sanitize launch --no-cuda list
expect_status $? 0
expect_out list
[[ -x $project/build/sanitize/reports/tally ]] || fail "expected a build in build/sanitize"
[[ ! -e $project/build/no-cuda ]] || fail "expected no other build"
TALLY_PRESET=none launch --no-cuda list
expect_status $? 3
expect_err 'configure failed'
