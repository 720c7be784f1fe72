#!/usr/bin/env bash
# A compiler cache that holds precompiled headers of another commit, whose headers differ in a comment alone, does not
# give them out: GCC would take the changed header for another one and read it twice.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
type -P ccache >/dev/null || exit 77

launcher=$(sed -n "s/.*CMAKE_CXX_COMPILER_LAUNCHER='\([^']*\)'.*/\1/p" "$repository/tally")
[[ $launcher == *ccache ]] || fail "expected the launcher's call of ccache; found '$launcher'"
mkdir "$project/small" && cd "$project/small" || exit 1
{
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(small LANGUAGES CXX)\n'
  sed -n '/^function(tally_precompile/,/^endfunction/p' "$repository/CMakeLists.txt"
  printf 'add_library(small OBJECT source.cpp)\ntarget_include_directories(small PRIVATE .)\ntally_precompile(small small.hpp)\n'
} >CMakeLists.txt
printf '#pragma once\n// first\nstruct Small {};\n' >small.hpp
printf '#include "small.hpp"\n' >source.cpp

compile() {
  rm -rf build
  cmake -G Ninja -B build "-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher" >log 2>&1 || fail "$1: $(cat log)"
  cmake --build build >log 2>&1 || fail "$1: $(grep -m 1 error log)"
}
hits() { ccache --print-stats | awk '$1 == "direct_cache_hit" || $1 == "preprocessed_cache_hit" { n += $2 } END { print n + 0 }'; }
unset CCACHE_DISABLE
export CCACHE_DIR=$project/cache
compile "with an empty cache"
compile "again"
[[ $(hits) == 2 ]] || fail "expected the headers and the source from the cache; found $(hits) of 2"
sed -i 's/first/other/' small.hpp
printf 'Small other;\n' >>source.cpp
compile "after a comment changed"
