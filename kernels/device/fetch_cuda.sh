#!/usr/bin/env bash
# Fetches the CUDA toolkit into FOLDER, from pinned and hash-checked wheels: usage fetch_cuda.sh FOLDER
# Afterwards FOLDER looks like an installed toolkit (bin/nvcc, include, lib64), so that CMake finds it.
set -euo pipefail
folder=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
part=$folder.part
exec 8>"$folder.lock"
flock 8
[[ ! -x $folder/bin/nvcc ]] || exit 0

rm -rf "$part" && mkdir -p "$part/wheels"
echo "fetching the CUDA toolkit (about 780 MB) into $folder"
python3 -I -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes \
  --dest "$part/wheels" --requirement "$here/cuda-requirements.txt"
for wheel in "$part"/wheels/*.whl; do
  python3 -I -m zipfile -e "$wheel" "$part"
done
rm -rf "$part/wheels"
toolkit=$part/nvidia/cu13
cp -r "$part/nvidia/nccl/include/." "$toolkit/include/" && cp "$part"/nvidia/nccl/lib/lib*.so.* "$toolkit/lib/"
chmod -R u+x "$toolkit/bin" "$toolkit/nvvm/bin"  # zipfile drops the mode
ln -sfn lib "$toolkit/lib64"
for library in "$toolkit"/lib/lib*.so.*; do
  ln -sf "$(basename "$library")" "${library%%.so.*}.so"
done
rm -rf "$folder"
mv "$toolkit" "$folder"
rm -rf "$part"
