// How a build folder was configured.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tally::command_line {

/// A program in its build folder, by what another revision is built and found.
struct BuiltProgram {
  std::filesystem::path folder;  // the build folder
  std::filesystem::path file;    // below it: "reports/tally", "layer_norm_tally"
  std::string target;            // of the build: "tally", "layer_norm_tally"
  std::filesystem::path source;  // the folder that was configured; empty where CMake made none
};

/// The nearest folder above that CMake configured is its build folder. Without one it lies in reports/ there, as Tally's.
BuiltProgram built_program_at(const std::filesystem::path& file);

/// What `cmake` is to be given so that another revision is built alike: generator, compilers, flags, build type, with
/// or without CUDA; no tests but those that programs of a user's own kernels come with. A folder that CMake did not make gives a release build.
std::vector<std::string> configuration_of(const std::filesystem::path& build_folder);

}  // namespace tally::command_line
