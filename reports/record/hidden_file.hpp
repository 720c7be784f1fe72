// A file on its way to its name: whole before anybody sees it, gone unless it gets there.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tally {

/// Locked as long as it is being written: one that is not was left by a process that is no more.
class HiddenFile {
 public:
  /// Throws std::runtime_error where none can be made in the folder.
  explicit HiddenFile(const std::filesystem::path& folder);
  HiddenFile(HiddenFile&& other) noexcept;
  HiddenFile& operator=(HiddenFile&&) = delete;
  ~HiddenFile();

  /// Writes the text to the disk; false, with errno, where that fails.
  bool fill(std::string_view text);
  /// Gives it a hidden name, if it has none yet.
  bool appear();
  /// Replaces the file of that name.
  bool become(const std::string& file);

 private:
  std::filesystem::path folder_, name_;  // no name: nobody else can find it, and it ends with this process
  int descriptor_ = -1;
};

/// Takes away hidden files that nobody writes any more.
void remove_abandoned(const std::filesystem::path& folder);

}  // namespace tally
