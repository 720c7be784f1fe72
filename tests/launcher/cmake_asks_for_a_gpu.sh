#!/usr/bin/env bash
# TALLY_CUDA=AUTO is CUDA where a GPU is and an nvcc; ON demands an nvcc. Kernels are compiled for the architectures that
# are named, else for the GPU, else for all; seeded faults for a GPU alone. Of nvcc only the name is needed here.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
mkdir "$project/kernels/device/cuda" "$project/toolkit"
cp "$repository"/kernels/{cuda_toolkit,compile_kernels}.cmake "$project/kernels"
cat >"$project/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
macro(enable_language)
endmacro()
macro(find_package)
endmacro()
include(kernels/cuda_toolkit.cmake)
message(STATUS "has ${TALLY_HAS_CUDA}, faults ${TALLY_CUDA_FAULTS}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
CMAKE

says() {  # TEXT OPTIONS…
  rm -rf "$project/toolkit/build"
  cmake -G Ninja -S "$project" -B "$project/toolkit/build" "${@:2}" >"$project/out" 2>"$project/err"
  grep -qFe "$1" "$project/out" "$project/err" || fail "${*:2}: expected $1"
}
nvcc=-DCMAKE_CUDA_COMPILER=nvcc gpu=-DTALLY_GPU=nvidia0 none=-DTALLY_GPU=
detected=-DCMAKE_CUDA_ARCHITECTURES_NATIVE=90-real
says 'CUDA: off, no GPU is here' -DTALLY_CUDA=AUTO $none $nvcc
says 'has OFF, faults OFF' -DTALLY_CUDA=AUTO $none $nvcc
says 'has ON, faults ON, architectures native' -DTALLY_CUDA=AUTO $gpu $detected $nvcc
says 'for the GPU that is here, 90-real' -DTALLY_CUDA=AUTO $gpu $detected $nvcc
says 'has ON, faults ON, architectures 80;90;100' -DTALLY_CUDA=AUTO $gpu $nvcc
says 'has OFF' -DTALLY_CUDA=OFF $gpu $nvcc
says 'has ON, faults OFF, architectures 80;90;100' -DTALLY_CUDA=ON $none $nvcc
says 'has ON, faults ON, architectures native' -DTALLY_CUDA=ON $gpu $detected $nvcc
says 'architectures 75' -DTALLY_CUDA=ON $gpu $detected $nvcc -DCMAKE_CUDA_ARCHITECTURES=75
CUDAARCHS=75 says 'architectures ' -DTALLY_CUDA=ON $gpu $detected $nvcc
! grep -E '^-- (CUDA|has)' "$project/out" | grep -qE 'native|80' || fail "expected CUDAARCHS to be left to CMake"
says 'faults ON' -DTALLY_CUDA=ON $none $nvcc -DTALLY_CUDA_FAULTS=ON
says 'faults OFF' -DTALLY_CUDA=ON $gpu $nvcc -DTALLY_CUDA_FAULTS=OFF
says "TALLY_CUDA is 'maybe'" -DTALLY_CUDA=maybe $gpu
