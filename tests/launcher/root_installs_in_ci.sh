#!/usr/bin/env bash
# Root with CI set or --yes installs what tools and configure lack, unasked, and goes on; anybody else gets the line.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
touch "$project/lacking"
rm "$bin/cmake"
replace apt-get <<APT
#!/bin/bash
echo "\$DEBIAN_FRONTEND: \$*" >>"$project/installed"
[[ \$* != *update* ]] || rm -f "$project/stale"
[[ ! -e "$project/stale" ]] || exit 100
[[ \$* != *" cmake"* ]] || ln -sf "$(type -P cmake)" "$bin/cmake"
[[ \$* != *libsmall-dev* ]] || rm "$project/lacking"
APT

if ((EUID != 0)); then
  CI=true launch verify --no-cuda
  expect_status $? 3
  expect_err 'sudo apt-get install'
  exit 0
fi
CI=true launch verify --no-cuda
expect_status $? 0
expect_out verify
options='-y -o DPkg::Lock::Timeout=300 install --no-install-recommends --no-remove -o DPkg::Lock::Timeout=300'
for packages in cmake 'libsmall-dev libtiny-dev'; do
  grep -qxF -- "noninteractive: $options $packages" "$project/installed" || fail "not installed: $packages; $(cat "$project/installed")"
done

# What an old list of packages does not have, a new one may.
touch "$project/lacking" "$project/stale" && rm -r "$project/build"
launch verify --no-cuda --yes
expect_status $? 0
