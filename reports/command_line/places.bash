# Sourced by the launcher: what it writes to, looked at before anything is written. What cannot be is named in one line:
# the place, what was found there, what was expected, and what helps.
me() { id -un 2>/dev/null || id -u; }
of() { stat -Lc '%U, mode %a' "$1"; }  # PLACE: whose it is

need_folder() {  # DIR: is made where nothing is
  local found help='remove it, or make it a link to a folder of yours'
  [[ -e $1 || -L $1 ]] || ! mkdir -p "$1" 2>/dev/null || return 0
  if [[ -d $1 ]]; then
    [[ ! -r $1 || ! -w $1 || ! -x $1 ]] || return 0
    found="a folder of $(of "$1")" help="chown or chmod it, or make it a link to a folder of yours"
  elif [[ -e $1 ]]; then
    found="a $(stat -Lc %F "$1")"
  elif [[ -L $1 ]]; then
    found="a link to $(readlink "$1"), where nothing is" help='make that folder, or remove the link'
  else
    found="nothing, in a folder of $(of "${1%/*}")" help="chown or chmod that, or go on in a checkout of yours"
  fi
  die "$1: found $found; expected a folder that $(me) can write to: $help"
}

need_files() {  # FILE…: each can be written, or made in its folder
  local file
  for file in "$@"; do
    [[ -e $file || -L $file ]] || continue
    [[ ! -f $file || ! -w $file ]] || continue
    die "$file: found a $(stat -c %F "$file") of $(of "$file" 2>/dev/null || echo nobody); expected a file that $(me) can write to: remove it, or chown it"
  done
}

need_places() {  # all that set-up and build write
  need_folder "$home/build"
  [[ ! -e $build && ! -L $build ]] || need_folder "$build"
  need_files "$log" "$home"/build/{".$preset.lock",times,.nvcc,probe.cu} "$build"/{CMakeCache.txt,build.ninja,.ninja_log,.ninja_deps}
}

need_preset() {  # NAME: one that CMakePresets.json lists, or a file of the user's own
  local names own=$home/CMakeUserPresets.json
  mapfile -t names <<<"$(sed -n '/"configurePresets"/,/^  \]/{ /"hidden": true/d; s/^ *{"name": "\([^"]*\)".*/\1/p }' "$home/CMakePresets.json")"
  [[ " ${names[*]} " != *" $1 "* ]] || return 0
  ! grep -qsE "\"name\": *\"$1\"" "$own" || return 0
  die "TALLY_PRESET is '$1'; expected $(in_a_row "${names[@]}")"
}
