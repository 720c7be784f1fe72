#!/bin/sh
# What run.sh makes of a missing tool, a missing device, a finding and none, with stand-ins for both programs.
set -eu
run=$(cd "$(dirname "$0")" && pwd)/run.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

stand_in() { # NAME BODY
  printf '#!/bin/sh\n%s\n' "$2" >"$folder/$1"
  chmod +x "$folder/$1"
}
expect() { # STATUS WHAT
  status=0
  PATH="$folder:/usr/bin:/bin" sh "$run" racecheck "$folder/tally" "$folder/out" >"$folder/said" 2>&1 || status=$?
  [ "$status" = "$1" ] || { echo "$2: exit $status, expected $1"; cat "$folder/said"; exit 1; }
}

stand_in tally 'exit 0'
if ! PATH="$PATH:/usr/local/cuda/bin" command -v compute-sanitizer >/dev/null; then
  expect 77 "no tool"
  grep -q "no compute-sanitizer" "$folder/said"
fi
stand_in compute-sanitizer 'echo "asked for: $*"; exit 99'
expect 99 "a finding"
grep -q -- "asked for: --tool racecheck --error-exitcode 99 $folder/tally verify --subject cuda" "$folder/said"
stand_in tally 'exit 77'
expect 77 "no device"
stand_in tally 'exit 1'
expect 1 "a law that fails by itself"
stand_in tally 'exit 0'
stand_in compute-sanitizer 'shift 4; exec "$@"'
expect 0 "no finding"
