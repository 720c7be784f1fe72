#!/usr/bin/env bash
# With set-up done, a run neither probes nor configures, prints nothing of its own and costs less than two seconds.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"

launch --no-cuda list
expect_status $? 0
[[ $(tr '\n' ' ' <"$project/build/times") =~ ^set-up\ [0-9]+\ build\ [0-9]+\ $ ]] || fail "expected build/times to say what set-up and build took"
stamp=$(stat -c %Y%n "$project/build/no-cuda/build.ninja")
replace cmake <<CMAKE
#!/bin/bash
[[ \$* != *preset* ]] && exec $(type -P cmake) "\$@"
exit 9
CMAKE
SECONDS=0
launch --no-cuda list
expect_status $? 0
[[ $SECONDS -lt 2 ]] || fail "took $SECONDS s; expected less than 2"
[[ ! -s $project/err ]] || fail "expected nothing on stderr"
PATH=$bin SHELL=$BASH script -qec "'$project/tally' --no-cuda list" "$project/err" >"$project/out" </dev/null
expect_out $'list\r'
[[ $stamp == "$(stat -c %Y%n "$project/build/no-cuda/build.ninja")" ]] || fail "configured again"

cp -p "$project/CMakePresets.json" "$project/presets"
sed -i 's/"displayName": "Optimised, without any CUDA toolkit"/"displayName": "Changed"/' "$project/CMakePresets.json"
launch --no-cuda list
expect_status $? 3
expect_err 'configure failed'

# What failed half-way is done again, though all that it depends on is as it was before.
ln -sf "$(type -P cmake)" "$bin/cmake" && mv "$project/presets" "$project/CMakePresets.json"
launch --no-cuda list
expect_status $? 0
expect_line 'configuring'
