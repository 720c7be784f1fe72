# Sourced by the launcher: which words there are, and which part of the program knows each. The folders say so:
# PART/commands/WORD….cpp, as reports/CMakeLists.txt reads them.
parts=$home/reports/command_line

part_of() {  # WORD: check, verify or lab; nothing where no part has it
  local part file
  [[ $1 =~ ^[a-z-]+$ ]] || return 0
  for part in check verify lab; do
    for file in "$parts/$part/commands/$1"{,_*}.cpp; do [[ ! -e $file ]] || { echo "$part"; return; }; done
  done
}

words() {  # in the order of the alphabet
  local file
  { echo test; for file in "$parts"/{check,verify,lab}/commands/*.cpp; do file=${file##*/} && echo "${file%%[!a-z-]*}"; done; } | sort -u
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

explained_names() {  # of laws, faults and what a failure may look like, as their files register them
  find "$home"/properties/{laws,faults,diagnosis} \( -name '*.cpp' -o -name '*.cu' \) -exec awk '
    /const Register(Law|Fault|Bug) /{ open = 1 }
    open && match($0, /\.name = "[^"]+"/) { print substr($0, RSTART + 9, RLENGTH - 10); open = 0 }' {} + 2>/dev/null | LC_ALL=C sort -u
}

nearest() {  # WORD, names on standard input: "a, b, c", the nearest first, those that begin with it or hold it before all
  awk -v word="$1" '
    function distance(a, b, i, j, row, diagonal, replaced, least) {
      for (j = 0; j <= length(b); j++) row[j] = j
      for (i = 1; i <= length(a); i++) {
        diagonal = row[0]; row[0] = i
        for (j = 1; j <= length(b); j++) {
          replaced = diagonal + (substr(a, i, 1) != substr(b, j, 1)); diagonal = row[j]
          least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1
          row[j] = replaced < least ? replaced : least
        }
      }
      return row[length(b)]
    }
    { at = index($0, word); print (at != 1), (at == 0), distance(word, $0), $0 }' | sort -n -k1,1 -k2,2 -k3,3 -s | awk '
    NR <= 3 { printf "%s%s", (NR == 1 ? "" : ", "), $4 }'
}

asks_help() {  # ARGUMENTS…
  local argument
  for argument; do
    case $argument in --help | -h) return ;; --) return 1 ;; esac
  done
  return 1
}

answer_at_once() {  # WORD ARGUMENTS…: what needs no program
  local what='' names
  if [[ $1 == test ]] && asks_help "$@"; then
    echo './tally test [OPTION…]: builds everything and hands the options to ctest; none: all tests but those labelled long.'
    echo 'For example -L style, -R recorder, -N to list them; tests/README.md names the labels.'
    exit 0
  fi
  [[ $1 == explain ]] && ! asks_help "$@" || return 0
  for ((; $# > 1; )); do
    shift
    case $1 in --results) [[ $# == 1 ]] || shift ;; -*) ;; *) what=$1 ;; esac
  done
  [[ -n $what && ! $what =~ ^(c-)?[0-9a-f]{12}$ ]] || return 0
  names=$(explained_names)
  [[ -n $names ]] && ! grep -qxF -e "$what" <<<"$names" || return 0
  say "nothing is named '$what'; the nearest names are $(nearest "$what" <<<"$names")"
  exit 2
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
  answer_at_once ${arguments[@]+"${arguments[@]}"}
}
