#!/usr/bin/env bash
# Two runs on one build folder take turns; the program itself, and what a build leaves running, are outside the lock.
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

# As a compiler cache leaves a server behind.
cp "$project/reports/CMakeLists.txt" "$project/lists"
echo 'add_custom_target(server COMMAND sh -c "sleep 60 >/dev/null 2>&1 & echo $! >server.pid" VERBATIM)
add_dependencies(tally-check server)' >>"$project/reports/CMakeLists.txt"
launch --no-cuda check
expect_status $? 0
server=$(cat "$project/build/no-cuda/reports/server.pid")
kill -0 "$server" || fail "expected a server that is still there"
flock -n "$project/build/.no-cuda.lock" true || fail "what the build left running holds the lock"
kill "$server"
mv "$project/lists" "$project/reports/CMakeLists.txt"

cat >"$project/reports/main.cpp" <<'CPP'
#include <cstdlib>
int main(int, char** arguments) { return std::system(arguments[2]) == 0 ? 0 : 1; }
CPP
launch --no-cuda replay "flock -n '$project/build/.no-cuda.lock' true"
expect_status $? 0
