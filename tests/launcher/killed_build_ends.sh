#!/usr/bin/env bash
# A build ends with the launcher that runs it, however that ends: nothing goes on behind the lock it had.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
type -P setpriv >/dev/null || { echo "not run: no setpriv"; exit 77; }
long=271.8281828$$  # a time to sleep that nothing else sleeps
echo "add_custom_target(slow COMMAND sleep $long)
add_dependencies(tally slow)" >>"$project/reports/CMakeLists.txt"
runs() { pgrep -xf "sleep $long" >/dev/null; }

for signal in TERM KILL; do
  PATH=$bin "$project/tally" --no-cuda list >"$project/out" 2>"$project/err" </dev/null &
  launcher=$!
  for _ in {1..300}; do runs && break; sleep 0.1; done
  runs || fail "the build never began"
  kill -"$signal" "$launcher"
  wait "$launcher" 2>/dev/null
  for _ in {1..100}; do runs || break; sleep 0.1; done
  ! runs || fail "the build went on after $signal"
done
