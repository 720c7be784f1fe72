#!/usr/bin/env bash
# What the launcher can say by itself it says at once: what there is, and that a word is none. Nothing is set up.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
for tool in cmake ninja c++ apt-get; do replace "$tool" <<<$'#!/bin/bash\nexit 9'; done

for word in --help -h; do
  launch --no-cuda $word
  expect_status $? 0
  for text in './tally verify' '--no-setup' 'TALLY_BUILD=DIR' ' sweep ' ' baseline ' 'No program is built here yet'; do
    grep -qF -- "$text" "$project/out" || fail "expected on stdout: $text"
  done
  [[ ! -s $project/err ]] || fail "expected nothing on stderr"
done
launch
expect_status $? 2
expect_out ''
expect_err './tally verify'

refuses() {  # WORD TEXT: in one line
  launch "$1"
  expect_status $? 2
  expect_out ''
  expect_line "$2"
}
refuses nonsense "tally: 'nonsense' is no command; expected baseline, bench, "
refuses swep ", sweep, test, vary or verify"
refuses verif "'verif' is no command"
refuses baseline_show "'baseline_show' is no command"
refuses --no-cdua "'--no-cdua' is no option of ./tally; expected --yes, --no-setup, --cuda, --no-cuda, --help or --version"
refuses '' 'argument 1: found nothing'
refuses '*' "'*' is no command"
touch "$project/reports/command_line/lab/commands/measure.cpp"
refuses measrue ", measure, "

# Names that can be explained stand in the sources: a near miss is answered, what may be a case is not.
mkdir -p "$project"/properties/{laws,faults/loss,diagnosis/bugs}
printf 'const RegisterLaw registered{{\n    .name = "sums_agree",\n' >"$project/properties/laws/sums_agree.cpp"
printf '    .name = "no record",\nconst RegisterFault registered{{\n    .name = "last-only",\n' >"$project/properties/faults/loss/last.cu"
printf 'const RegisterBug registered_one{{\n    .name = "one-left-out",\n    .name = "of its option"\n' >"$project/properties/diagnosis/bugs/one.cpp"
explains_not() {  # NAMES WORD…: the nearest names
  launch --no-cuda explain "${@:2}"
  expect_status $? 2
  expect_out ''
  expect_line "tally: nothing is named '$2'; the nearest names are $1"
}
explains_not 'last-only, one-left-out, sums_agree' last-onyl
explains_not 'one-left-out, last-only, sums_agree' left --results somewhere.json
explains_not 'sums_agree, last-only, one-left-out' sums_agreed
launch --no-cuda test --help
expect_status $? 0
expect_out "$(printf '%s\n' './tally test [OPTION…]: builds everything and hands the options to ctest; none: all tests but those labelled long.' \
  'For example -L style, -R recorder, -N to list them; tests/README.md names the labels.')"
[[ ! -e $project/build ]] || fail "something was set up"

# A program that is built says its own behind it.
mkdir -p "$project/build/no-cuda/reports"
for name in tally-check tally-lab; do
  printf '#!/bin/bash\necho "%s $*"\n' "$name" >"$project/build/no-cuda/reports/$name"
  chmod +x "$project/build/no-cuda/reports/$name"
done
launch --help
expect_status $? 0
[[ $(tail -n 1 "$project/out") == 'tally-lab --help' ]] || fail "expected the help of the largest program"
mkdir -p "$project/other/reports" && mv "$project/build/no-cuda/reports/tally-check" "$project/other/reports"
TALLY_BUILD=$project/other launch --help
[[ $(tail -n 1 "$project/out") == 'tally-check --help' ]] || fail "expected the help of the build that is named"
