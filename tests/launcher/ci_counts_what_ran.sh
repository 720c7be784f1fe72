#!/usr/bin/env bash
# .ci/run closes with what each part took and the count of what ran. It fails when a test failed, when no law ran on the
# host, and when it all took too long.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
cp -r "$repository/.ci" "$project"
sed -i '/^add_test/d' "$project/CMakeLists.txt"
cat >>"$project/CMakeLists.txt" <<'CMAKE'
foreach(row IN LISTS rows)
  string(REGEX MATCH "(.*):(.*):(.*)" row ${row})
  add_test(NAME ${CMAKE_MATCH_1} COMMAND bash -c "echo as ${CMAKE_MATCH_1} says; exit ${CMAKE_MATCH_3}")
  string(REPLACE "+" ";" labels ${CMAKE_MATCH_2})
  set_tests_properties(${CMAKE_MATCH_1} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77)
endforeach()
CMAKE
export TALLY_BUILD=$project/build/no-cuda

ci() {  # ROWS: name:labels joined by +:exit status
  PATH=$bin cmake -G Ninja -S "$project" -B "$TALLY_BUILD" "-Drows=$1" >/dev/null || fail "configure"
  PATH=$bin "$project/.ci/run" >"$project/out" 2>"$project/err" </dev/null
}
expect_last() { [[ $(tail -n 1 "$project/out") == "$1" ]] || fail "expected as the last line: $1"; }

ci 'a:unit:0;law.b:law:0;law.c:law:77'
expect_status $? 0
expect_last '2 passed, 0 failed, 1 skipped'
grep -qE '^unit +[0-9]+$' "$project/out" && grep -qE '^law +[0-9]+$' "$project/out" || fail "expected what units and laws took"
[[ $(tail -n 2 "$project/out" | head -n 1) =~ ^total\ +[0-9]+$ ]] || fail "expected what it all took"
TALLY_CI_BEGAN=$(($(date +%s) - 121)) TALLY_CI_BUDGET=2 ci 'a:unit:0;law.b:law:0'
expect_status $? 1
grep -qE '^error: all of it took 2\.[01] minutes; expected at most 2 \(TALLY_CI_BUDGET\)$' "$project/out" || fail "expected the budget"
grep -qE '^bare root +12[1-9]$' "$project/out" || fail "expected what making the root took"
expect_last '2 passed, 0 failed, 0 skipped'
TALLY_CI_BEGAN=$(($(date +%s) - 100)) TALLY_CI_BUDGET=2 ci 'a:unit:0;law.b:law:0'
expect_status $? 0
[[ $(grep -c '^total ' "$project/out") == 1 ]] || fail "expected the times of this run alone"
for budget in long 5m; do
  TALLY_CI_BUDGET=$budget ci 'a:unit:0;law.b:law:0'
  expect_status $? 2
done

ci 'a:unit:0;law.b:law:0;c:unit:1'
[[ $? -ne 0 ]] || fail "a failed test passed"
expect_last '2 passed, 1 failed, 0 skipped'
[[ $(tail -n 3 "$project/out" | head -n 2) == $'the end of c:\n  as c says' ]] || fail "expected why it failed"
ci 'a:unit:0;law.b:law:77'
expect_status $? 1
expect_last '1 passed, 0 failed, 1 skipped'
ci 'a:unit:0;gpu.b:law+gpu:0'
expect_status $? 1
ci ''
[[ $? -ne 0 ]] || fail "a run without tests passed"

# What ctest says of itself counts too, and what it left an hour ago does not.
ctest=$(readlink "$bin/ctest")
replace ctest <<<"#!/bin/bash
'$ctest' \"\$@\"; [[ \$* == *show-only* ]] || exit 3"
ci 'a:unit:0;law.b:law:0'
expect_status $? 3
expect_last '2 passed, 0 failed, 0 skipped'
replace ctest <<<$'#!/bin/bash\nexit 3'
ci 'a:unit:0;law.b:law:0'
expect_status $? 3
expect_err 'no test ran: ./tally test ended with 3'
