#!/usr/bin/env bash
# Proves the set-up on a bare Debian 12 that has nothing but git: usage (as root)
#   bare_root.sh FOLDER [LAUNCHER ARGUMENTS…]   by default `verify --yes --no-cuda`
#   bare_root.sh --ci FOLDER [ARGUMENTS…]       .ci/run instead, with this machine's compiler cache, where it holds anything,
#                                               and CUDA toolkit carried in
#   bare_root.sh --recipe FOLDER                the steps of reports/ci/github.yml instead, in the same way
#   bare_root.sh --make FOLDER                  only makes the root for --ci
# Makes FOLDER with debootstrap where it is not there yet, clones this repository's last commit into it and runs there.
# Needs root, the network and some minutes, in a mount namespace of its own: nothing stays mounted however it ends.
set -euo pipefail
mode='' ci=''
[[ ${1:-} != --ci && ${1:-} != --recipe && ${1:-} != --make ]] || { mode=$1 ci=1 && shift; }
folder=${1:?usage: bare_root.sh [--ci | --recipe | --make] FOLDER [ARGUMENTS…]}
[[ $folder != -* ]] || { echo "usage: bare_root.sh [--ci | --recipe | --make] FOLDER [ARGUMENTS…]; found $folder" >&2; exit 2; }
shift
[[ -n $ci ]] || (($#)) || set -- verify --yes --no-cuda
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [[ -z ${TALLY_BARE_NAMESPACE:-} ]]; then
  TALLY_BARE_NAMESPACE=1 exec unshare --mount -- "${BASH_SOURCE[0]}" ${mode:+"$mode"} "$folder" "$@"
fi

# Settings that this machine needs to reach its package sources: exported names, and files of the same path.
carried_variables=(PIP_CERT PIP_INDEX_URL http_proxy https_proxy no_proxy SSL_CERT_FILE REQUESTS_CA_BUNDLE)
carried_files=(/etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt)
[[ -z $ci ]] || carried_variables+=(CI TALLY_CI_BEGAN TALLY_CI_BUDGET TALLY_CUDA TALLY_CUDA_FAULTS CUDAARCHS TALLY_EFFORT TALLY_PRESET CTEST_PARALLEL_LEVEL)

# Where this machine keeps nothing in a cache, the root has none.
cache=''
[[ -z $ci ]] || cache=$(find "${CCACHE_DIR:-$HOME/.cache/ccache}" -type f -printf x -quit 2>/dev/null || true)

if [[ ! -x $folder/usr/bin/git ]]; then
  mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null || true; } |
    sed -n -E 's/^(URIs: *|deb +(\[[^]]*\] +)?)([a-z]+:[^ ]+debian\/?)( .*)?$/\3/p' | sed -n 1p)
  debootstrap --variant=minbase --include="git,ca-certificates${cache:+,ccache}" bookworm "$folder" ${mirror:+"$mirror"}
fi
[[ $mode != --make ]] || exit 0
for file in "${carried_files[@]}"; do
  [[ ! -e $file ]] || install -D -m 644 "$file" "$folder$file"
done
# A booted machine has this file; debootstrap leaves it to the installer, and browsers look for localhost in it.
[[ -e $folder/etc/hosts ]] || printf '127.0.0.1 localhost\n' >"$folder/etc/hosts"
cp -r /etc/apt/apt.conf.d/. "$folder/etc/apt/apt.conf.d/"

rm -rf "$folder/tally"
git -c safe.directory='*' clone --quiet "$source" "$folder/tally"
variables=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
[[ $mode != --recipe ]] || "$(type -P /usr/bin/python3 python3 | head -n 1)" -B "$source/tests/reports/ci/steps.py" "$source/reports/ci/github.yml" \
  "$(git -C "$folder/tally" -c safe.directory='*' branch --show-current)" >"$folder/steps.sh"
for name in "${carried_variables[@]}"; do
  [[ -z ${!name:-} ]] || variables+=("$name=${!name}")
done

carry() {  # THERE HERE: a folder of this machine appears in the root
  mkdir -p "$folder$2"
  mount --bind "$1" "$folder$2"
}
carry /dev /dev
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$folder/dev/pts"  # programs that need a terminal
mount -t proc proc "$folder/proc"
mount -t sysfs -o ro sysfs "$folder/sys" || echo "no /sys in $folder: libraries of MPI look for cores and networks there" >&2
if [[ -n $ci ]]; then
  [[ -z $cache ]] || carry "${CCACHE_DIR:-$HOME/.cache/ccache}" /root/.cache/ccache
  [[ ! -x /usr/local/cuda/bin/nvcc || $mode == --recipe ]] || carry "$(readlink -f /usr/local/cuda)" /usr/local/cuda
  [[ $mode != --recipe ]] ||
    exec env -i "${variables[@]}" chroot "$folder" bash -c 'cd /tally && exec bash /steps.sh'
  exec env -i "${variables[@]}" CCACHE_BASEDIR=/tally TALLY_CI_BARE=0 chroot "$folder" /tally/.ci/run "$@"
fi
exec env -i "${variables[@]}" chroot "$folder" /tally/tally "$@"
