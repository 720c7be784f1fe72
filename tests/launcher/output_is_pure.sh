#!/usr/bin/env bash
# Set-up and build leave stdout to the program; what they print is on stderr and in build/setup.log.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"

launch --no-cuda oracle --json
expect_status $? 0
expect_out $'oracle\n--json'
expect_err 'Building CXX object'
grep -q 'Building CXX object' "$project/build/setup.log" || fail "build/setup.log lacks the build's output"

echo 'broken' >>"$project/reports/main.cpp"
launch --no-cuda oracle --json
expect_status $? 3
expect_out ''
expect_err 'the build failed'
