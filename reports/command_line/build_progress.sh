#!/usr/bin/env bash
# How far a build is, in one line: ninja … 2>&1 | build_progress.sh LOG [SECONDS]
# On a terminal the line is rewritten in place; elsewhere one is written every SECONDS, 15 unless told, and none for a
# shorter build.
# What a failed step printed is shown. Everything else, warnings too, is in LOG alone. A script of its own, because the
# launcher is read by people who want to know what it installs.
set -u
log=${1:?usage: build_progress.sh LOG [SECONDS]}
began=$SECONDS told=$SECONDS every=${2:-15}
[[ ! -t 2 ]] || every=1 told=$((told + 1))  # a build with nothing to do shows no line
finished=0 total=0 shown='' failing='' line='' step=''
trap '' INT  # ninja ends at Ctrl-C, and what it says last is kept

in_words() { (($1 < 60)) && echo "$1 s" || echo "$(($1 / 60)) min $(($1 % 60)) s"; }

about() {  # SECONDS: as exact as a guess deserves
  (($1 < 90)) && echo "$((($1 + 9) / 10 * 10)) s" || echo "$((($1 + 30) / 60)) min"
}

tell() {  # END: the line of progress, followed by END
  local elapsed=$((SECONDS - began)) left=''
  # The first steps say little: what is left is told from the twentieth part on.
  ((finished * 20 < total || finished == total)) || left=", about $(about $((elapsed * (total - finished) / finished))) left"
  [[ ! -t 2 ]] || printf '\r\e[K' >&2
  printf '[%d/%d] %s%s%b' "$finished" "$total" "$(in_words "$elapsed")" "$left" "$1" >&2
  told=$SECONDS shown=yes
}

clear() { [[ -z $shown || ! -t 2 ]] || printf '\r\e[K' >&2; }

take() {  # one line of ninja's
  echo "$1" >>"$log"
  if [[ $1 =~ ^\[([0-9]+)/([0-9]+)\]' ' ]]; then
    ((BASH_REMATCH[2] <= total)) || began=$SECONDS  # the first step, or another count: CMake has run again
    finished=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]} failing='' step=''
  elif [[ $1 == 'FAILED: '* ]]; then  # and the next line is the command
    failing='command'
    clear
    echo "$step$1" >&2
  elif [[ $1 == 'ninja: error: '* || $1 == 'ninja: fatal: '* ]]; then
    clear
    echo "$1" >&2
  elif [[ $1 == 'ninja: '* ]]; then
    failing=''
  elif [[ $failing == command ]]; then
    failing='output'
  elif [[ $failing == output ]]; then
    echo "$1" >&2
  else
    step+=$1$'\n'
  fi
}

while true; do
  if IFS= read -r -t 1 part; then
    take "$line$part" && line=''
  elif (($? > 128)); then
    line+=$part  # the beginning of a line
  else
    [[ -z $line$part ]] || take "$line$part"
    break
  fi
  ((total == 0 || SECONDS - told < every)) || tell "$([[ -t 2 ]] || echo '\n')"
done
[[ -n $shown && $finished == "$total" ]] && tell '\n' || clear
