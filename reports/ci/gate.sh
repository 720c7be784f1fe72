#!/usr/bin/env bash
# What the recipes run: the campaign, then the gate. gate.sh OUT [OPTIONS OF VERIFY…]
# The first run makes the baseline and leaves it in OUT, to be committed as baselines/host.json; a baseline belongs to one
# kind of machine, so it has to come from the container that the recipe runs in. baselines/waivers.toml is read where it is.
# Exits as the gate does: 0 pass, 1 failed, 4 nothing ran, 5 only new cases; as verify does where that could not run.
# --unsteered draws the same cases for a changed kernel, --no-shrink leaves those that fail as they were drawn, and
# --keep-going draws those after them: the gate compares them all.
set -uo pipefail
out=${1:?usage: gate.sh OUT [OPTIONS OF VERIFY…]}
shift
baseline=baselines/host.json waivers=()
[[ ! -f baselines/waivers.toml ]] || waivers=(--waivers baselines/waivers.toml)
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 3
# A container's root works on a checkout of somebody else: git asks to be told that this is meant.
git rev-parse --git-dir >/dev/null 2>&1 || git config --global --add safe.directory "$PWD"

./tally verify --subject host --unsteered --no-shrink --keep-going --out "$out" "$@"
ran=$?
((ran <= 1)) || exit "$ran"
if [[ ! -f $baseline ]]; then
  ((ran == 0)) || { echo "no $baseline yet, and a run that failed makes none"; exit "$ran"; }
  mkdir -p baselines
  ./tally bless "$out/results.json" --baseline "$baseline" --reason "first run of this recipe" --allow-ci || exit
  cp "$baseline" "$out/host.json" || exit 3
  echo "no $baseline was committed: this run made one; commit $out/host.json as $baseline"
fi
exec ./tally gate "$out/results.json" --baseline "$baseline" ${waivers[@]+"${waivers[@]}"}
