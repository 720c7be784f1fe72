// The program as it was at another revision.
#pragma once

#include <filesystem>
#include <string>

namespace tally::command_line {

/// Finds or builds it; what it built goes with it.
class OldBuild {
 public:
  /// `what` is a build folder, or else a revision of the repository that the working folder is in: that is built in a
  /// temporary worktree. Throws UsageError for what is neither, std::runtime_error where it does not build.
  explicit OldBuild(const std::string& what);
  ~OldBuild();
  OldBuild(const OldBuild&) = delete;
  OldBuild& operator=(const OldBuild&) = delete;

  const std::string& program() const { return program_; }

 private:
  void build(const std::string& revision);
  std::string program_, repository_;
  std::filesystem::path worktree_;  // empty: none was made
};

/// A new folder of a name that nobody has. Throws std::runtime_error.
std::filesystem::path temporary_folder();

}  // namespace tally::command_line
