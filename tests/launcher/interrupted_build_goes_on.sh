#!/usr/bin/env bash
# Ctrl-C ends set-up and build with status 130; the next run goes on where it was.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
touch "$project/slow"
cat >>"$project/reports/CMakeLists.txt" <<CMAKE
add_custom_command(OUTPUT first COMMAND sh -c "echo made >>'$project/made' && touch first" VERBATIM)
add_custom_command(OUTPUT second DEPENDS first COMMAND sh -c "test ! -e '$project/slow' || { touch '$project/begun'; exec sleep 60; }; touch second" VERBATIM)
add_custom_target(steps DEPENDS second)
add_dependencies(tally steps)
CMAKE

# A group of its own, as a shell with job control makes one, and as a terminal interrupts it.
PATH=$bin setsid env --default-signal=INT "$project/tally" --no-cuda list >"$project/out" 2>"$project/err" </dev/null &
launcher=$!
for _ in {1..300}; do [[ ! -e $project/begun ]] || break; sleep 0.1; done
[[ -e $project/begun ]] || fail "the build never began"
SECONDS=0
kill -INT -- "-$launcher"
wait "$launcher"
expect_status $? 130
! grep -q 'the build failed' "$project/err" || fail "expected no failure"
[[ $SECONDS -lt 10 ]] || fail "went on for $SECONDS s"
expect_out ''

rm "$project/slow"
launch --no-cuda list
expect_status $? 0
expect_out list
[[ ! -s $project/err ]] || fail "expected no second set-up"
[[ $(cat "$project/made") == made ]] || fail "a step that was done was done again"
