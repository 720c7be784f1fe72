#!/usr/bin/env bash
# Proves the set-up on a bare Debian 12 that has nothing but git: usage (as root) bare_root.sh FOLDER [LAUNCHER ARGUMENTS…]
# Makes FOLDER with debootstrap where it is not there yet, clones this repository into it and runs the launcher there,
# by default `verify --yes --no-cuda`. Not part of ctest: it needs root, the network and some minutes.
set -euo pipefail
folder=${1:?usage: bare_root.sh FOLDER [LAUNCHER ARGUMENTS…]}
shift
(($#)) || set -- verify --yes --no-cuda
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# Settings that this machine needs to reach its package sources: exported names, and files of the same path.
carried_variables=(PIP_CERT PIP_INDEX_URL http_proxy https_proxy no_proxy SSL_CERT_FILE REQUESTS_CA_BUNDLE)
carried_files=(/etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt)

if [[ ! -x $folder/usr/bin/git ]]; then
  mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null || true; } |
    sed -n -E 's/^(URIs: *|deb +(\[[^]]*\] +)?)([a-z]+:[^ ]+debian\/?)( .*)?$/\3/p' | sed -n 1p)
  debootstrap --variant=minbase --include=git,ca-certificates bookworm "$folder" ${mirror:+"$mirror"}
fi
for file in "${carried_files[@]}"; do
  [[ ! -e $file ]] || install -D -m 644 "$file" "$folder$file"
done
# A booted machine has this file; debootstrap leaves it to the installer, and browsers look for localhost in it.
[[ -e $folder/etc/hosts ]] || printf '127.0.0.1 localhost\n' >"$folder/etc/hosts"
cp -r /etc/apt/apt.conf.d/. "$folder/etc/apt/apt.conf.d/"

rm -rf "$folder/tally"
git -c safe.directory='*' clone --quiet "$source" "$folder/tally"
variables=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
for name in "${carried_variables[@]}"; do
  [[ -z ${!name:-} ]] || variables+=("$name=${!name}")
done

cleanup() { umount "$folder/dev" "$folder/proc"; }
mount --bind /dev "$folder/dev"
mount -t proc proc "$folder/proc"
trap cleanup EXIT
env -i "${variables[@]}" chroot "$folder" /tally/tally "$@"
