# Hashes the headers that a user's kernel is compiled against, below ROOT. Writes OUT/compiled_against.hpp, which goes
# beside them, and OUT/abi.cpp, which goes into the program.
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${HEADERS} headers)
set(text "")
foreach(header IN LISTS headers)
  file(SHA256 ${ROOT}/${header} hash)
  string(APPEND text "${header} ${hash}\n")
endforeach()
string(SHA256 hash "${text}")
string(SUBSTRING ${hash} 0 12 hash)
set(abi "${VERSION}-${hash}")
file(CONFIGURE OUTPUT ${OUT}/compiled_against.hpp @ONLY CONTENT
"// Made by CMake: notes which headers a user's kernel is compiled against.
#pragma once

#include \"kernels/plugin/plugin.hpp\"

namespace {

const tally::Register<tally::CompiledFile> tally_compiled_file({__BASE_FILE__, \"@abi@\"});

}  // namespace
")
file(CONFIGURE OUTPUT ${OUT}/abi.cpp @ONLY CONTENT
"// Made by CMake.
#include \"kernels/plugin/plugin.hpp\"

namespace tally {

const std::string& kernel_abi() {
  static const std::string abi = \"@abi@\";
  return abi;
}

}  // namespace tally
")
