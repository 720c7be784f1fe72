// Programs of earlier commits, each with its hash, so that none is built twice.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tally::command_line {

/// While it lives, no other process uses the folder: a second one waits.
class KeptPrograms {
 public:
  /// Throws std::runtime_error where the folder cannot be made or written to.
  explicit KeptPrograms(const std::filesystem::path& folder);
  ~KeptPrograms();
  KeptPrograms(const KeptPrograms&) = delete;
  KeptPrograms& operator=(const KeptPrograms&) = delete;

  /// The program of a commit built with these options; empty where none is kept whole, and what is left of it goes.
  std::string find(const std::string& commit, const std::vector<std::string>& options) const;
  /// Keeps a copy, and of all programs the most recent eight. Where it lies. Throws std::runtime_error.
  std::string keep(const std::filesystem::path& program, const std::string& commit,
                   const std::vector<std::string>& options) const;

 private:
  std::filesystem::path place_of(const std::string& commit, const std::vector<std::string>& options) const;
  void forget_oldest() const;
  std::filesystem::path folder_;
  int lock_;
};

}  // namespace tally::command_line
