// Files that belong together: all of them new, or all of them as they were.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tally {

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

}  // namespace tally
