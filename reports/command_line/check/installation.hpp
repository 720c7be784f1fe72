// How the program came to where it stands.
#pragma once

#include <filesystem>
#include <string>

namespace tally::command_line {

/// Told from what stands around the program: "wheel", "build", "Debian package", "cmake --install" or "copy", and the
/// folder. `root` is that of the system's packages.
std::string installation_of(const std::filesystem::path& program, const std::filesystem::path& root = "/");

}  // namespace tally::command_line
