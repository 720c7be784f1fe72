#!/usr/bin/env bash
# Set-up and build leave stdout to the program; what they print is in build/setup.log, what fails on stderr too.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"

NINJA_STATUS='%p ' launch --no-cuda oracle --json
expect_status $? 0
expect_out $'oracle\n--json'
! grep -q 'Building CXX object' "$project/err" || fail "expected no step of the build on stderr"
grep -q '^\[[0-9]*/[0-9]*\] Building CXX object' "$project/build/setup.log" || fail "build/setup.log lacks the build's output"

echo 'broken' >>"$project/reports/main.cpp"
launch --no-cuda oracle --json
expect_status $? 3
expect_out ''
expect_err 'error:'
expect_err 'the build failed'

# What failed may have lacked what set-up looks for: it looks again.
sed -i '/broken/d' "$project/reports/main.cpp"
launch --no-cuda oracle --json
expect_status $? 0
expect_line 'configuring'
