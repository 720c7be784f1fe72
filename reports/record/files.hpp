// Files that Tally writes: recognised, hidden until they are whole, written together or not at all, by one process at a
// time.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

// A file that cannot be written, which is none of its reader's or caller's faults: a full disk.

class NotWritten : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Whether a file is one that Tally writes, by its name and how it begins.

/// Results, run facts, studies, judged captures and operations, pages, scripts, JUnit and Markdown. What is not there, or empty, is nobody's and may be
/// written.
bool may_be_replaced(const std::filesystem::path& file);
/// An exact answer, or nothing.
bool may_be_replaced_by_answer(const std::filesystem::path& file);

// A file on its way to its name: whole before anybody sees it, gone unless it gets there.

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

// Files that belong together: all of them new, or all of them as they were.

struct FileText {
  std::string file, text;
};

/// Every text is on the disk, under no name or a hidden one, before the first file is replaced; then all are, at once
/// as far as a file system has that. Through symbolic links to the files that they name. Throws std::runtime_error that
/// names the file, also where its name belongs to a device, a pipe or a folder. What a killed process left hidden in
/// these folders is taken away.
void write_together(const std::vector<FileText>& files);

/// Where a name leads: through symbolic links to the file that they name, there or not. Throws std::runtime_error where
/// it belongs to a device, a pipe or a folder, which stay what they are.
std::filesystem::path destination(const std::string& file);
/// "." for a name alone.
std::filesystem::path folder_of(const std::filesystem::path& file);

/// Throws std::runtime_error unless a file could be written there. Leaves none.
void require_writable_folder(const std::filesystem::path& folder);

// One process at a time reads a file of a folder, changes it and writes it back.

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
