# Sourced by the launcher's tests: a copy of the launcher over a project of three programs, in a folder of its own.
# A program prints its arguments, one a line. There is a GPU where a test makes the file $project/gpu. Sets $project and $bin, a folder with every command of this machine;
# a test takes one away or puts its own in its place.
set -uo pipefail
umask 022  # what a message says of a folder's mode does not follow the machine's
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
project=$(mktemp -d "${TMPDIR:-/tmp}/a project.XXXXXX")  # a path may hold a space
trap 'rm -rf "$project"' EXIT
bin=$project/bin
unset CMAKE_CXX_COMPILER_LAUNCHER CMAKE_CUDA_COMPILER_LAUNCHER CI TALLY_BUILD TALLY_PRESET TALLY_CUDA TALLY_CUDA_FAULTS TALLY_CI_BUDGET CXX CUDACXX CUDAARCHS
export CCACHE_DISABLE=1

mkdir -p "$project/kernels/device" "$project"/reports/{study,command_line} "$bin"
cp "$repository/tally" "$repository/CMakePresets.json" "$project"
cp "$repository"/kernels/device/{fetch_cuda.sh,cuda-requirements.txt} "$project/kernels/device"
cp "$repository"/reports/command_line/{build_progress.sh,words.bash,places.bash} "$project/reports/command_line"
(cd "$repository" && cp --parents reports/command_line/*/commands/*.cpp "$project")  # which words there are
cp "$repository"/reports/study/{name_commit,tree}.cmake "$project/reports/study"
cat >"$project/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
include(CTest)
if(EXISTS ${CMAKE_SOURCE_DIR}/lacking)
  message(STATUS "Missing packages: libsmall-dev libtiny-dev")
  message(FATAL_ERROR "lacking")
endif()
add_subdirectory(reports)
add_test(NAME small COMMAND ${CMAKE_COMMAND} -E true)
CMAKE
cat >"$project/reports/CMakeLists.txt" <<'CMAKE'
foreach(program tally-check tally tally-lab)
  add_executable(${program} main.cpp)
  target_include_directories(${program} PRIVATE ${CMAKE_SOURCE_DIR})
endforeach()
include(study/name_commit.cmake)
name_commit(tally)
CMAKE
echo '#include <string>
namespace tally::command_line { std::string tree(); extern const char build_mark[]; }' >"$project/reports/command_line/output.hpp"
cat >"$project/reports/main.cpp" <<'CPP'
#include <cstdio>
int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) std::puts(arguments[i]);
  return count == 1 ? 2 : 0;
}
CPP
ln -s /usr/bin/* "$bin" 2>/dev/null
for tool in cmake ctest ninja c++; do ln -sf "$(type -P "$tool")" "$bin/$tool"; done

replace() {  # NAME: this machine's command NAME, for the test only, becomes the script on standard input
  rm -f "${bin:?}/$1"  # a link to the real command: never write through it
  cat >"$bin/$1" && chmod +x "$bin/$1"
}

replace ls <<LS
#!/bin/bash
[[ \$1 != /dev/nvidia* ]] || { [[ -e '$project/gpu' ]]; exit; }
exec $(type -P ls) "\$@"
LS

launch() { PATH=$bin "$project/tally" "$@" >"$project/out" 2>"$project/err" </dev/null; }  # ARGUMENTS…

fail() {
  echo "failed: $*"
  echo "stdout:" && cat "$project/out"
  echo "stderr:" && cat "$project/err"
  exit 1
}
expect_status() { [[ $1 == "$2" ]] || fail "exit status $1; expected $2"; }
expect_out() { [[ $(cat "$project/out") == "$1" ]] || fail "expected on stdout, and nothing else: $1"; }
expect_err() { grep -qF -- "$1" "$project/err" || fail "expected on stderr: $1"; }
expect_line() {  # TEXT: stderr is one line, with this in it
  [[ $(wc -l <"$project/err") == 1 ]] || fail "expected one line on stderr"
  expect_err "$1"
}
