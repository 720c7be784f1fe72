#!/usr/bin/env bash
# Where apt-get or pip reaches nothing, one line says so; pages of theirs are in build/setup.log. Another failure of
# apt-get is named by its own last words.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
rm "$bin/cmake"
replace apt-get <<'APT'
#!/bin/bash
for _ in {1..50}; do echo "W: Failed to fetch a file  Temporary failure resolving 'somewhere'"; done
echo "E: Unable to locate package cmake"
exit 100
APT
if ((EUID == 0)); then  # nobody else installs unasked
  launch verify --yes
  expect_status $? 3
  [[ $(wc -l <"$project/err") == 2 ]] || fail "expected two lines on stderr"
  expect_err 'tally: installing 1 package'
  expect_err 'tally: no network: apt-get reached no source of packages; connect and run this again; see'
  grep -q 'Temporary failure' "$project/build/setup.log" || fail "expected apt-get's words in build/setup.log"
  printf '#!/bin/bash\necho "E: held broken packages"\nexit 100\n' | replace apt-get
  launch verify --yes
  expect_status $? 3
  expect_err 'tally: apt-get failed: E: held broken packages; see'
fi

ln -s "$(type -P cmake)" "$bin/cmake"
replace python3 <<'PYTHON'
#!/bin/bash
[[ $* == *"pip download"* ]] || exec /usr/bin/python3 "$@"
echo "WARNING: Retrying: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution"
exit 1
PYTHON
rm -f "$bin/nvcc"
sed -i 's|/usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc||' "$project/tally"  # this machine's
launch --cuda verify
expect_status $? 3
[[ $(wc -l <"$project/err") == 2 ]] || fail "expected two lines on stderr"
expect_err 'tally: fetching the CUDA toolkit'
expect_err 'tally: no network: pip reached no CUDA toolkit; connect and run this again, or build without by --no-cuda'
