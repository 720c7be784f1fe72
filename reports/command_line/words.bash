# Sourced by the launcher: which words there are, and which part of the program knows each. The folders say so:
# PART/commands/WORD….cpp, as reports/CMakeLists.txt reads them.
parts=$home/reports/command_line

part_of() {  # WORD: check, verify or lab; nothing where no part has it
  local part file
  [[ $1 =~ ^[a-z]+$ ]] || return 0
  for part in check verify lab; do
    for file in "$parts/$part/commands/$1"{,_*}.cpp; do [[ ! -e $file ]] || { echo "$part"; return; }; done
  done
}

words() {  # in the order of the alphabet
  local file
  { echo test; for file in "$parts"/{check,verify,lab}/commands/*.cpp; do file=${file##*/} && echo "${file%%[!a-z]*}"; done; } | sort -u
}

in_a_row() {  # a b c: "a, b or c"
  local text=$1 i
  for ((i = 2; i < $#; i++)); do text+=", ${!i}"; done
  (($# == 1)) && echo "$text" || echo "$text or ${!#}"
}

usage() {  # what the launcher says of itself, and what a program says that is built
  local build name builds=("$home/build/${TALLY_PRESET:-no-cuda}" "$home/build/default")
  [[ -z ${TALLY_BUILD:-} ]] || builds=("$TALLY_BUILD")
  sed -n '2,/^set /{ s/^# \{0,1\}//p }' "$home/tally"
  echo "The words: $(words | tr '\n' ' ')"
  for build in "${builds[@]}"; do
    for name in tally-lab tally tally-check; do
      [[ -x $build/reports/$name ]] || continue
      echo && "$build/reports/$name" --help
      return
    done
  done
  echo "No program is built here yet; built, it says more about each: ./tally WORD --help"
}

choose_programs() {  # WORD: what it needs is the first of $programs; where a finished build lacks it, the next knows the word as well
  local options=(--yes --no-setup --cuda --no-cuda --help --version) known
  case $1:$(part_of "$1") in
    --help: | -h:) usage; exit 0 ;;
    :) ((${#arguments[@]} == 0)) || { say "argument 1: found nothing, expected a word; ./tally --help lists them"; exit 2; }
       usage >&2; exit 2 ;;
    *:check) programs=(tally-check tally tally-lab) ;;
    *:verify | test: | --version:) programs=(tally tally-lab) ;;
    *:lab) programs=(tally-lab) ;;
    -*:) say "'$1' is no option of ./tally; expected $(in_a_row "${options[@]}")"; exit 2 ;;
    *) mapfile -t known <<<"$(words)"
       say "'$1' is no command; expected $(in_a_row "${known[@]}")"; exit 2 ;;
  esac
}
