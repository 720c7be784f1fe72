#!/usr/bin/env bash
# One line says how far a build is: rewritten on a terminal, seldom elsewhere. What a failed step printed is shown,
# without its command; warnings are in the log alone.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
progress=$project/reports/command_line/build_progress.sh
ninja_prints() {  # a build in which one step warns and one fails
  echo '[1/4] Building CXX object one.o'
  echo 'one.cpp:1: warning: odd'
  echo '[2/4] Building CXX object two.o'
  sleep 2.2
  printf '[3/4] Building CXX object '
  sleep 1.2
  printf 'three.o\nFAILED: three.o \nc++ -c three.cpp\nthree.cpp:1: error: wrong\n'
  echo '[4/4] Building CXX object four.o'
  echo 'four.cpp:1: warning: odd too'
  echo 'ninja: build stopped: subcommand failed.'
}

ninja_prints | "$progress" "$project/log" 1 2>"$project/err"
diff <(sleep() { :; }; ninja_prints) "$project/log" || fail "expected everything in the log"
grep -qx '\[2/4\] [0-9]* s, about [0-9]* s left' "$project/err" || fail "expected a line of progress"
expect_err 'FAILED: three.o'
expect_err 'three.cpp:1: error: wrong'
! grep -qE 'warning|c\+\+ -c|build stopped|Building|'$'\r' "$project/err" || fail "expected the error alone"
[[ $(tail -n 1 "$project/err") == '[4/4] '[3-9]' s' ]] || fail "expected how long it took in the last line"

(sleep() { :; }; ninja_prints) | "$progress" "$project/log" 2>"$project/err"
[[ $(wc -l <"$project/err") == 2 ]] || fail "expected a short build to print what failed alone"

# What CMake prints comes before ninja says that it failed.
printf '[0/1] Re-running CMake...\nCMake Error: odd\nFAILED: build.ninja\ncmake .\nninja: error: rebuilding\n' |
  "$progress" "$project/log" 2>"$project/err"
[[ $(cat "$project/err") == $'CMake Error: odd\nFAILED: build.ninja\nninja: error: rebuilding' ]] || fail "expected CMake's error"

# Counts begin again when CMake has run.
{ printf '[0/1] Re-running CMake...\n'; sleep 2.2; printf '[1/3] one\n[3/3] three\n'; } | "$progress" "$project/log" 1 2>"$project/err"
[[ $(tail -n 1 "$project/err") == '[3/3] '[01]' s' ]] || fail "expected the second count"
! grep -qvxE '\[[0-3]/[13]\] [0-9]+ s(, about [0-9]+ s left)?' "$project/err" || fail "expected nothing but lines of progress, as after no step"

# Ctrl-C leaves it to ninja to end, a line may come in pieces and end without an end, and a line a second is enough.
pieces() {
  printf '[1/60] a'; sleep 1.1; printf 'b'; sleep 1.1; printf 'c\n'
  for step in {2..59}; do echo "[$step/60] d"; done
  printf 'ninja: error: cut'
}
env --default-signal=INT "$progress" "$project/a log" 1 < <(pieces) 2>"$project/err" &
sleep 1
kill -INT $!
wait $!
expect_status $? 0
diff <(sleep() { :; }; pieces; echo) "$project/a log" || fail "expected everything in the log"
[[ $(tail -n 1 "$project/err") == 'ninja: error: cut' ]] || fail "expected the last words"
[[ $(wc -l <"$project/err") -le 20 ]] || fail "expected a line a second"

# Times as they are told, and what is left at this pace.
# shellcheck disable=SC1090,SC2034
(
  source "$progress" "$project/log" </dev/null
  for seconds in 0 59 60 3725; do in_words $seconds; done
  for seconds in 1 89 90 150; do about $seconds; done
  unset SECONDS  # a number like others from here on
  SECONDS=100 began=0 finished=50 total=200 && tell '\n'
  finished=9 && tell '\n'
) >"$project/out" 2>&1
diff "$project/out" - <<'TOLD' || fail "expected other words of time"
0 s
59 s
1 min 0 s
62 min 5 s
10 s
90 s
2 min
3 min
[50/200] 1 min 40 s, about 5 min left
[9/200] 1 min 40 s
TOLD

export -f ninja_prints
SHELL=$BASH script -qec "ninja_prints | '$progress' '$project/log'" /dev/null >"$project/out" </dev/null
grep -q $'\r\e\\[K\\[2/4\\] . s, about .. s left\r\e\\[K' "$project/out" || fail "expected a line that is rewritten"
[[ $(wc -l <"$project/out") == 3 ]] || fail "expected the error and one line of progress on a terminal"

# Of the launcher: a build within seconds says nothing, and what a compiler calls an error is shown.
launch --no-cuda list
expect_line 'tally: configuring'
echo 'broken' >>"$project/reports/main.cpp"
launch --no-cuda list
expect_status $? 3
expect_err 'error:'
! grep -q 'Building' "$project/err" || fail "expected no step of the build"
