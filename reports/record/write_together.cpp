#include "reports/record/write_together.hpp"

#include <cerrno>
#include <cstring>
#include <set>
#include <stdexcept>

#include "reports/record/hidden_file.hpp"
#include "reports/record/record.hpp"

namespace tally {
namespace {

namespace fs = std::filesystem;

/// What is written of one file.
struct Writing {
  const std::string& file;
  fs::path target;
  HiddenFile hidden;
};

HiddenFile hidden_beside(const std::string& file, const fs::path& target) {
  try {
    return HiddenFile(folder_of(target));
  } catch (const std::runtime_error& problem) {
    throw std::runtime_error("cannot write " + file + ": " + problem.what());
  }
}

void require(bool done, const std::string& file) {
  if (!done) throw std::runtime_error("cannot write " + file + ": " + std::strerror(errno));
}

}  // namespace

fs::path destination(const std::string& file) {
  constexpr int most_links = 40;
  std::error_code unknown;
  fs::path at = file;
  for (int links = 0; fs::is_symlink(fs::symlink_status(at, unknown)); ++links) {
    if (links == most_links) throw std::runtime_error("cannot write " + file + ": too many symbolic links");
    const fs::path to = fs::read_symlink(at, unknown);
    at = to.is_absolute() ? to : at.parent_path() / to;
  }
  const fs::file_status found = fs::status(at, unknown);
  if (fs::exists(found) && !fs::is_regular_file(found))
    throw std::runtime_error("cannot write " + file + ": found no file; expected a file or a new name");
  return at;
}

fs::path folder_of(const fs::path& file) { return file.parent_path().empty() ? "." : file.parent_path(); }

void write_together(const std::vector<FileText>& files) {
  std::set<fs::path> folders;
  std::vector<Writing> all;
  for (const FileText& f : files) {
    const fs::path target = destination(f.file);
    if (folders.insert(folder_of(target)).second) remove_abandoned(folder_of(target));
    all.push_back({f.file, target, hidden_beside(f.file, target)});
    require(all.back().hidden.fill(f.text), f.file);
  }
  for (Writing& w : all) require(w.hidden.appear(), w.file);
  for (Writing& w : all) require(w.hidden.become(w.target.string()), w.file);
}

void write_atomically(const std::string& file, std::string_view content) {
  write_together({{file, std::string(content)}});
}

void require_writable_folder(const fs::path& folder) {
  remove_abandoned(folder);
  try {
    HiddenFile hidden(folder);
  } catch (const std::runtime_error& problem) {
    throw std::runtime_error("cannot write to " + folder.string() + ": " + problem.what());
  }
}

}  // namespace tally
