// One process at a time reads a file of a folder, changes it and writes it back.
#pragma once

#include <string>

namespace tally {

/// Held from here to the end of its life; waits for whoever holds it. It leaves no file, and ends with its process.
class FolderLock {
 public:
  /// Locks the folder that the file lies in, through symbolic links. Throws std::runtime_error where that cannot be
  /// locked.
  explicit FolderLock(const std::string& file);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int descriptor_;
};

}  // namespace tally
