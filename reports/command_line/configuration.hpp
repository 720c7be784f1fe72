// How a build folder was configured.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tally::command_line {

/// What `cmake` is to be given so that another revision is built alike: generator, compilers, flags, build type, with
/// or without CUDA; no tests. A folder that CMake did not make gives a release build.
std::vector<std::string> configuration_of(const std::filesystem::path& build_folder);

}  // namespace tally::command_line
