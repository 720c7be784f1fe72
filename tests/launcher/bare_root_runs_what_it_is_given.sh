#!/usr/bin/env bash
# bare_root.sh makes a root once, clones the last commit into it, and runs there what it is given, with nothing of this
# machine but what is named; how that ends is how it ends. Nothing is fetched or mounted here.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
script=$project/tests/launcher/bare_root.sh root=$project/root
mkdir -p "$project/tests/launcher" && cp "$repository/tests/launcher/bare_root.sh" "$project/tests/launcher"
sed -i 's|PATH=/usr/local/sbin:[^)]*|"PATH='"$bin"'"|' "$script"
printf 'bin/\nroot/\nout\nerr\nmade\nmounts\nenvironment\n' >"$project/.gitignore"
git -C "$project" init -q && git -C "$project" add -A && git -C "$project" -c user.name=a -c user.email=a commit -qm one
replace debootstrap <<SH
#!/bin/bash
echo "\$4" >>'$project/made'
[[ ! -e '$project/offline' ]] || exit 1
mkdir -p "\$4"/{usr/bin,etc/apt/apt.conf.d,dev/pts,proc,sys} && printf '#!/bin/true\n' >"\$4/usr/bin/git" && chmod +x "\$4/usr/bin/git"
SH
replace mount <<<"#!/bin/bash
echo \"\${*: -1}\" >>'$project/mounts'"
replace chroot <<<"#!/bin/bash
env >'$project/environment'; printf '%s\\n' \"\$@\"; exit 7"

bare() {
  TALLY_BARE_NAMESPACE=1 PATH=$bin CI=true TALLY_CI_BEGAN=5 TALLY_EFFORT=0.2 OTHER=here "$script" "$@" >"$project/out" 2>"$project/err" </dev/null
}
given() { for setting in "$@"; do grep -qxF -- "$setting" "$project/environment" || fail "expected $setting"; done; }

bare "$root"
expect_status $? 7
expect_out "$root"$'\n/tally/tally\nverify\n--yes\n--no-cuda'
[[ -x $root/tally/tally ]] || fail "expected a clone"
given HOME=/root
! grep -qE '^(CI|OTHER|TALLY_EFFORT)=' "$project/environment" || fail "expected nothing of this machine: $(cat "$project/environment")"
for place in dev proc sys; do grep -qx "$root/$place" "$project/mounts" || fail "expected /$place"; done
cd "$project" && bare root doctor
expect_status $? 7
expect_out $'root\n/tally/tally\ndoctor'

touch "$root/tally/left"
bare --ci "$root" -R 'two words'
expect_status $? 7
expect_out "$root"$'\n/tally/.ci/run\n-R\ntwo words'
[[ ! -e $root/tally/left ]] || fail "expected a new clone"
given CI=true TALLY_CI_BEGAN=5 TALLY_EFFORT=0.2 TALLY_CI_BARE=0
! grep -q '^OTHER=' "$project/environment" || fail "expected nothing else of this machine"
[[ $(cat "$project/made") == "$root" ]] || fail "expected one root: $(cat "$project/made")"

bare --make "$project/root/other"
expect_status $? 0
expect_out ''
[[ -d $project/root/other/proc && ! -e $project/root/other/tally ]] || fail "expected a root without a clone"
bare --fast "$root"
expect_status $? 2
expect_line 'usage: bare_root.sh'
touch "$project/offline"
bare "$project/root/third"
[[ $? -ne 0 && $? -ne 7 ]] || fail "ran in a root that could not be made"
expect_out ''
