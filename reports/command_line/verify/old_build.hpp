// The program as it was at another revision.
#pragma once

#include <filesystem>
#include <string>

namespace tally::command_line {

/// Finds or builds it.
class OldBuild {
 public:
  /// `what` is a build folder, or else a revision of the repository that the working folder is in. That one is built
  /// with the configuration of this program, in a worktree in the folder `cache`, and kept there: the next time the
  /// same commit costs nothing, and another one only what differs. Throws UsageError for what is neither,
  /// std::runtime_error where it does not build.
  OldBuild(const std::string& what, const std::filesystem::path& cache);

  const std::string& program() const { return program_; }

 private:
  std::string program_;
};

/// Where older builds are kept: in the build folder of this program.
std::filesystem::path default_cache();

/// A new folder of a name that nobody has. Throws std::runtime_error.
std::filesystem::path temporary_folder();

}  // namespace tally::command_line
