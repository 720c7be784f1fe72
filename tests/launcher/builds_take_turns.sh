#!/usr/bin/env bash
# Two runs on one build folder take turns; the program itself runs outside the lock.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
mkdir -p "$project/build"
exec 7>"$project/build/.no-cuda.lock"
flock 7

launch --no-cuda list 7>&- &
for _ in {1..100}; do
  grep -q 'waiting for the run' "$project/err" 2>/dev/null && break
  sleep 0.1
done
expect_err 'waiting for the run'
[[ ! -e $project/build/no-cuda ]] || fail "built while another run held the lock"
exec 7>&-
wait $!
expect_status $? 0
expect_out list

cat >"$project/reports/main.cpp" <<'CPP'
#include <cstdlib>
int main(int, char** arguments) { return std::system(arguments[2]) == 0 ? 0 : 1; }
CPP
launch --no-cuda replay "flock -n $project/build/.no-cuda.lock true"
expect_status $? 0
