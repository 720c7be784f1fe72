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
launch test --no-cuda
expect_status $? 0
expect_err 'all but the tests labelled long'
free 0
launch --no-cuda test
expect_status $? 0

# A build that has tests keeps them, and one that failed has not made its room.
launch --no-cuda list
expect_status $? 0
[[ ! -s $project/err ]] || fail "expected no other set-up where tests are built"
set_up=$project/build/no-cuda/.setup-tests  # as where tests with PyTorch were asked for
sed 's/ tests / tests-torch /' "$set_up" >"$set_up-torch" && rm "$set_up"
for words in list 'test -R small'; do
  # shellcheck disable=SC2086
  launch --no-cuda $words
  expect_status $? 0
  [[ ! -s $project/err ]] || fail "expected no other set-up where tests with PyTorch are built"
done
rm -r "$project/build"
free 3072
echo broken >>"$project/reports/main.cpp"
launch --no-cuda list
expect_err 'the build failed'
free 0
launch --no-cuda list
expect_line 'GB free for '
