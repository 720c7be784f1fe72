#!/usr/bin/env bash
# .ci/run hands a clean clone to a bare root, where only root may make one, and passes on how that ended; it says why it
# runs here where it does.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
unset TALLY_CI_BARE  # of a run that asks for none
((EUID == 0)) && unshare --mount true 2>/dev/null || { echo "not run: only root in a mount namespace makes a bare root"; exit 77; }
cp -r "$repository/.ci" "$project"
mkdir -p "$project/tests/launcher"
cat >"$project/tests/launcher/bare_root.sh" <<SH
#!/bin/bash
[[ \$1 != --make ]] || exit \${MAKE_ENDS:-0}
echo "bare root: \$1 \$3"
((\$(date +%s) - TALLY_CI_BEGAN < 60)) || echo "began at no time"
mkdir -p "\$2/tally/build" && echo kept | tee "\$2/tally/build/junit.xml" >"\$2/tally/build/times"
echo "\$2" >'$bin/.root'
exit 7
SH
chmod +x "$project/tests/launcher/bare_root.sh"
replace debootstrap <<<'#!/bin/true'
replace apt-get <<<'#!/bin/false'  # where it runs here, it would install on this machine
printf 'build/\nbin/\nout\nerr\n' >"$project/.gitignore"
git -C "$project" init -q && git -C "$project" add -A && git -C "$project" -c user.name=a -c user.email=a commit -qm one

ci() { PATH=$bin "$project/.ci/run" "$@" >"$project/out" 2>"$project/err" </dev/null; }
ci -Nothing
expect_status $? 7
grep -qx 'bare root: --ci -Nothing' "$project/out" || fail "expected a call of bare_root.sh"
! grep -q 'began at no time' "$project/out" || fail "expected to hand over when it began"
[[ $(cat "$project/build/junit.xml" "$project/build/times") == kept$'\n'kept ]] || fail "expected the results of the bare root"
[[ ! -e $(cat "$bin/.root") ]] || fail "the bare root is still there"

MAKE_ENDS=1 ci
grep -q '^skipped: a bare root (debootstrap cannot make it' "$project/out" || fail "expected the reason for running here"
TALLY_CI_BARE=0 ci
! grep -q 'bare root' "$project/out" || fail "expected no bare root where none is wanted"
for part in set-up build total; do grep -qE "^$part +[0-9]+$" "$project/out" || fail "expected what $part took"; done
TALLY_BUILD=$project/none ci
! grep -q 'bare root' "$project/out" || fail "expected no bare root for a build that is there"

touch "$project/one_more"
ci
grep -q '^skipped: a bare root (files differ' "$project/out" || fail "expected the reason for running here"
