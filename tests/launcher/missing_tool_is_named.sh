#!/usr/bin/env bash
# Without a terminal, without CI and --yes, and always under --no-setup, nothing is installed: the line is printed, status 3.
# On a terminal it is asked for.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
for command in apt-get sudo; do
  replace "$command" <<<"#!/bin/bash
echo \"$command \$*\" >>'$project/installed'"
done
rm "$bin/cmake" "$bin/ninja"
line='apt-get install --no-install-recommends --no-remove -o DPkg::Lock::Timeout=300 cmake ninja-build'

for options in 'verify --no-setup' 'verify' 'test --no-setup' '--no-setup oracle --json'; do
  # shellcheck disable=SC2086
  launch $options
  expect_status $? 3
  expect_out ''
  expect_err "$line"
done
CI=true launch verify --no-setup
expect_status $? 3
echo y | PATH=$bin "$project/tally" verify >"$project/out" 2>"$project/err"
expect_status $? 3
[[ ! -e $project/installed ]] || fail "something was installed: $(cat "$project/installed")"

asked() { PATH=$bin SHELL=$BASH script -qec "${2:-}'$project/tally' verify" "$project/err" <<<"$1" >"$project/out"; }  # ANSWER
for answer in n '' no; do
  asked "$answer"
  expect_err 'run it now? [y/N]'
  [[ ! -e $project/installed ]] || fail "installed though the answer was '$answer': $(cat "$project/installed")"
done
asked y 'echo y | '
[[ ! -e $project/installed ]] || fail "took an answer from a pipe: $(cat "$project/installed")"
asked y
grep -q 'install .*cmake ninja-build' "$project/installed" || fail "expected what was asked for to be installed"
