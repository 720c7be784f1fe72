#!/usr/bin/env bash
# .ci/packages installs what a build needs, what configure names too, and leaves a wheel and a Debian package of this
# commit alone; where one of them cannot be made it fails.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
cp -r "$repository/.ci" "$project"
sed -i 's|/usr/bin/python3 |python3 |' "$project/.ci/packages"  # this machine's
replace apt-get <<APT
#!/bin/bash
(IFS='|'; echo "\$DEBIAN_FRONTEND|\$*") >>'$project/installed'
APT
replace cmake <<CMAKE
#!/bin/bash
[[ \$1 != --build ]] || exec test ! -e '$project/broken'
grep -q libsmall-dev '$project/installed' && exit
mkdir -p build/package && echo 'libsmall-dev libtiny-dev' >build/package/missing_packages.txt
exit 1
CMAKE
replace python3 <<'PYTHON'
#!/bin/bash
[[ "$1 $2 $3" == '-m pip wheel' && ${*: -1} == ./kernels/subjects/pytorch ]] || exec /usr/bin/python3 "$@"
mkdir -p build/packages && touch build/packages/new.whl
PYTHON
replace cpack <<'CPACK'
#!/bin/bash
mkdir -p build/packages/_CPack_Packages && touch build/packages/new.deb
CPACK
mkdir -p "$project/build/packages" && touch "$project/build/packages/old.whl"
makes() { PATH=$bin "$project/.ci/packages" >"$project/out" 2>"$project/err" </dev/null; }
left() { (cd "$project/build/packages" && echo *); }

makes
expect_status $? 0
[[ $(left) == 'new.deb new.whl' ]] || fail "expected a wheel and a package; found $(left)"
asked='noninteractive|install|-y|--no-install-recommends'
[[ $(cat "$project/installed") == "$asked|g++|cmake|ninja-build|git|python3|python3-pip"$'\n'"$asked|libsmall-dev|libtiny-dev" ]] ||
  fail "installed: $(cat "$project/installed")"
touch "$project/broken"
makes
[[ $? -ne 0 ]] || fail "a build that failed made a package"
[[ $(left) == new.whl ]] || fail "expected no package; found $(left)"
