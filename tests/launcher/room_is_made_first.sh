#!/usr/bin/env bash
# A build that the disk has no room for does not begin: one line says what is free and what is needed. What is built
# already counts, and a finished build needs nothing.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
free() { printf '#!/bin/bash\necho Avail\necho " %sM"\n' "$1" | replace df; }  # MEBIBYTES

free 2971
launch --no-cuda list
expect_status $? 3
expect_line '2.9 GB free for '
expect_err 'a build of the program takes 3 GB: make room, or make build a link to a larger disk'
[[ ! -e $project/build/no-cuda ]] || fail "the build began"
free 3072
launch --no-cuda list
expect_status $? 0
free 0
launch --no-cuda list
expect_status $? 0

free 8100
launch --no-cuda test
expect_status $? 3
expect_line 'a build of tests takes 8 GB'
dd if=/dev/zero of="$project/build/no-cuda/part" bs=1M count=100 status=none
launch --no-cuda test
expect_status $? 0
free 0
launch --no-cuda test
expect_status $? 0
