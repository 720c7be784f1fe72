#!/usr/bin/env bash
# `test` alone leaves long tests out and says so, else it gives its arguments to ctest. A selection without a test fails,
# and TALLY_BUILD is used as it is.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
cat >>"$project/CMakeLists.txt" <<'CMAKE'
add_test(NAME endless COMMAND ${CMAKE_COMMAND} -E false)
set_tests_properties(endless PROPERTIES LABELS "unit;long")
foreach(name two "two words")
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E true)
  set_tests_properties(${name} PROPERTIES LABELS unit)
endforeach()
CMAKE
launch --no-cuda list
expect_status $? 0
cmake -DBUILD_TESTING=ON "$project/build/no-cuda" >/dev/null || fail "expected a build with tests"
export TALLY_BUILD=$project/build/no-cuda

launch test -R '^small$'
expect_status $? 0
grep -q '1/1 Test .*small .* Passed' "$project/out" || fail "expected ctest's row for small"
launch test -R '^two words$'
expect_status $? 0
grep -q '1/1 Test .*two words .* Passed' "$project/out" || fail "expected ctest's row for a name of two words"
launch test
expect_status $? 0
grep -q 'two words .* Passed' "$project/out" || fail "expected a unit test to run"
grep -q 'all but the tests labelled long' "$project/err" || fail "expected a word about what is left out"
launch test -L .
[[ $? -ne 0 ]] || fail "expected the long test to run where all are asked for"
launch test -R '^none$'
[[ $? -ne 0 ]] || fail "a selection without a test passed"

rm "$bin/cmake" "$bin/ninja"
launch verify --cases 3
expect_status $? 0
expect_out $'verify\n--cases\n3'
TALLY_BUILD=$project/nowhere launch verify
expect_status $? 3
mkdir "$project/nowhere"
TALLY_BUILD=$project/nowhere launch test
expect_status $? 3
expect_line "nowhere/CTestTestfile.cmake: no such file; expected a finished build in $project/nowhere, with tests"
