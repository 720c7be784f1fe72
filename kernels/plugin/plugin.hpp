// A program that holds kernels of a user's own beside Tally's (kernels/plugin/plugin.md). add_equivalence_test compiles
// what it was asked for into that program, and each kernel which headers it was compiled against:
// reports/command_line/plugins holds both against what the program is.
// kernel_abi() is made by CMake.
#pragma once

#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "oracle/registered_files.hpp"

namespace tally {

/// What one add_equivalence_test asks for.
struct Plugin {
  std::string place;  // "/…/CMakeLists.txt (add_equivalence_test layer_norm)"
  std::string operation, variant;
  std::vector<std::string> files;    // that are to register it, as the compiler is given them
  std::string data;                  // the folder of the installation's data
  bool checked = true, cuda = true;  // whether they were compiled for these executors, too
};

/// A file, and the headers it was compiled against, in the words of kernel_abi().
struct CompiledFile {
  std::string file, abi;
};

/// The headers that this program's own kernels were compiled against: Tally's version and a hash of their text.
const std::string& kernel_abi();

/// The plugins and the compiled files of this program; empty for Tally's own.
inline std::vector<Plugin>& plugins() {
  static std::vector<Plugin> all;
  return all;
}
inline std::vector<CompiledFile>& compiled_files() {
  static std::vector<CompiledFile> all;
  return all;
}

inline void enter_record(Plugin plugin, std::source_location) { plugins().push_back(std::move(plugin)); }
inline void enter_record(CompiledFile file, std::source_location) { compiled_files().push_back(std::move(file)); }

}  // namespace tally
