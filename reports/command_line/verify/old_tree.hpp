// A worktree that is taken from revision to revision, and its build: what two revisions share is not built again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reports/command_line/verify/configuration.hpp"

namespace tally::command_line {

class OldTree {
 public:
  /// In `folder`, which may hold what is left of an earlier one, of any state. `like` is the program as it is now.
  OldTree(std::filesystem::path folder, std::string repository, const BuiltProgram& like);

  /// The program as of a commit, configured with `options`. Progress goes to standard error, what the tools print to
  /// a log in the folder. What is damaged is made again. Throws std::runtime_error, with the log's last lines, where
  /// that commit does not build.
  std::filesystem::path build(const std::string& commit, const std::vector<std::string>& options) const;

 private:
  bool check_out(const std::string& commit) const;
  void make_worktree(const std::string& commit) const;
  std::string built(const std::vector<std::string>& options) const;
  std::filesystem::path folder_, source_, build_, log_;
  std::string repository_, project_, target_;  // the project's folder below the repository
  std::filesystem::path program_;
};

}  // namespace tally::command_line
