#!/usr/bin/env bash
# The word says which program is built and run: the smallest that knows it. A finished build offers what it has.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
cat >"$project/reports/main.cpp" <<'CPP'
#include <cstdio>
#include <cstdlib>
#include <cstring>
int main(int count, char** arguments) {
  const char* program = std::strrchr(arguments[0], '/') + 1;
  const bool asks_the_lab = std::strcmp(arguments[count - 1], "faults") == 0 && std::strcmp(program, "tally-lab") != 0;
  if (asks_the_lab && std::getenv("TALLY_PARTS")) return 75;
  const bool asks_verify = std::strcmp(arguments[count - 1], "law") == 0 && std::strcmp(program, "tally-check") == 0;
  if (asks_verify && std::getenv("TALLY_PARTS")) return 74;
  if (std::strcmp(arguments[count - 1], "typo") == 0) return 2;
  std::puts(program);
}
CPP
programs=$project/build/no-cuda/reports

runs() {  # PROGRAM ARGUMENTS…
  launch "${@:2}"
  expect_status $? 0
  expect_out "$1"
}
for word in check oracle explain hash; do
  runs tally-check --no-cuda $word case.json
done
[[ -x $programs/tally-check && ! -e $programs/tally && ! -e $programs/tally-lab ]] || fail "a check built more than tally-check"
runs tally --no-cuda replay case.json
runs tally --no-cuda bless --reason 'not --fault' --faultless
runs tally --no-cuda list kernels
runs tally --no-cuda explain law
launch --no-cuda explain typo
expect_status $? 2
[[ ! -e $programs/tally-lab ]] || fail "no word of the lab built it"
runs tally --no-cuda replay --fault mean-of-means --help
[[ ! -e $programs/tally-lab ]] || fail "help of a word that is not of the lab built the lab"
runs tally-lab --no-cuda list faults
expect_err 'tally: building the lab (faults, studies): once'
rm "$programs/tally-lab" "$project"/build/no-cuda/.built-tally-lab
runs tally-lab --no-cuda replay case.json --fault mean-of-means
expect_err 'tally: building the lab (faults, studies): once'
for words in sweep bench 'faults mean-of-means' 'check --fault=mean-of-means' 'verify --faults all'; do
  # shellcheck disable=SC2086
  runs tally-lab --no-cuda $words
  [[ ! -s $project/err ]] || fail "expected nothing on stderr the second time"
done

# The folder of its file says which part a command is of.
touch "$project"/reports/command_line/{lab/commands/measure_all,check/commands/glance}.cpp
runs tally-lab --no-cuda measure
runs tally-check --no-cuda glance

export TALLY_BUILD=$project/build/no-cuda
runs tally-check check case.json
rm "$programs/tally-check"
runs tally check case.json
rm "$programs/tally"
runs tally-lab check case.json
runs tally-lab verify
runs tally-lab sweep
mv "$programs/tally-lab" "$programs/tally"
launch sweep
expect_status $? 3
expect_line 'reports/tally-lab: no such program'
