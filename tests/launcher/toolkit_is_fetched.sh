#!/usr/bin/env bash
# The wheels become a folder that looks like an installed toolkit, or nothing at all.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
replace python3 <<PYTHON
#!/bin/bash
[[ \$* == *"pip download"* ]] || exec /usr/bin/python3 "\$@"
echo "\$*" >>"$project/downloads"
[[ ! -e '$project/offline' ]] || exit 1
while [[ \$1 != --dest ]]; do shift; done
/usr/bin/python3 -c '
import sys, zipfile
with zipfile.ZipFile(sys.argv[1] + "/one.whl", "w") as wheel:
    for name in ("bin/nvcc", "nvvm/bin/cicc", "include/cublas_v2.h", "lib/libcublas.so.13", "lib/libcudart_static.a"):
        wheel.writestr("nvidia/cu13/" + name, "#!/bin/true\\n")
' "\$2"
PYTHON
fetch() { PATH=$bin "$project/kernels/device/fetch_cuda.sh" "$project/cuda" >"$project/out" 2>"$project/err"; }

touch "$project/offline"
fetch && fail "a download that failed was taken for a toolkit"
[[ ! -e $project/cuda ]] || fail "half a toolkit was left"
rm "$project/offline"

fetch || fail "fetch_cuda.sh failed"
grep -q -- '--no-deps.*--require-hashes' "$project/downloads" || fail "hashes were not required"
[[ -x $project/cuda/bin/nvcc && -x $project/cuda/nvvm/bin/cicc ]] || fail "the tools cannot be executed"
[[ -e $project/cuda/lib64/libcublas.so && -e $project/cuda/lib64/libcudart_static.a ]] || fail "lib64 is incomplete"
[[ ! -e $project/cuda.part ]] || fail "the download was left"
fetch || fail "the second call failed"
[[ $(wc -l <"$project/downloads") == 2 ]] || fail "a toolkit that is there was fetched again"
