// Files that Tally writes: recognised, hidden until they are whole, written together or not at all.
#include "reports/record/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "reports/record/record.hpp"

namespace tally {
namespace {

constexpr std::size_t looked_at = 4096;

std::string head_of(const std::filesystem::path& file) {
  std::string head(looked_at, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// The first key of results, of a run's facts, alone and over processes, of a study, of judged operations: keys are
/// sorted.
bool is_json(std::string_view head) {
  if (!head.starts_with("{")) return false;
  head.remove_prefix(std::min(head.size(), head.find_first_not_of(" \n", 1)));
  constexpr std::array keys{"\"campaign\":", "\"command\":", "\"across\":", "\"answer\":", "\"all\": {\"elements\":"};
  return std::any_of(keys.begin(), keys.end(), [head](const char* key) { return head.starts_with(key); });
}

/// How the document of a judged capture ends: keys are sorted, and what stands before may be long.
bool ends_as_check(const std::filesystem::path& file) {
  constexpr std::string_view mark = "\n \"tally_check\": 1,\n \"verdict\": \"";
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = in.tellg(), looked_from = std::max<std::streamoff>(0, size - 64);
  std::string tail(static_cast<std::size_t>(size - looked_from), '\0');
  in.seekg(looked_from).read(tail.data(), static_cast<std::streamsize>(tail.size()));
  return has(tail, mark) && tail.ends_with("\"\n}\n");
}

/// A verdict's mark, after the heading's two signs or at the start of the line below, or a comparison of runs.
bool is_markdown(std::string_view head) {
  if (!head.starts_with("## ")) return false;
  constexpr std::array marks{"\u2713 ", "\u2717 ", "\u25CB ", "\u2013 ", "\u203C "};
  return has(head, " of both runs, bits changed in ") ||
         std::any_of(marks.begin(), marks.end(), [head](const char* mark) {
           return head.substr(3).starts_with(mark) || has(head, std::string("\n\n**") + mark);
         });
}

/// The first key of an exact answer.
bool is_answer_text(std::string_view head) { return head.starts_with("{\"full_batch\":"); }

}  // namespace

bool may_be_replaced_by_answer(const std::filesystem::path& file) {
  std::error_code unknown;
  if (!std::filesystem::exists(file, unknown)) return true;
  if (!std::filesystem::is_regular_file(file, unknown)) return false;
  return std::filesystem::file_size(file, unknown) == 0 || is_answer_text(head_of(file));
}

bool may_be_replaced(const std::filesystem::path& file) {
  std::error_code unknown;
  if (!std::filesystem::exists(file, unknown)) return true;
  if (!std::filesystem::is_regular_file(file, unknown)) return false;
  if (std::filesystem::file_size(file, unknown) == 0) return true;
  const std::string head = head_of(file), ending = file.extension().string();
  if (ending == ".json") return is_json(head) || ends_as_check(file);
  if (ending == ".html") return has(head, "<title>Tally: ");
  if (ending == ".py") return head.starts_with("# Tally: repeats operation ");
  if (ending == ".xml") return has(head, "<testsuites name=\"tally\">");
  return ending == ".md" && is_markdown(head);
}

namespace {

namespace fs = std::filesystem;

constexpr char prefix[] = ".tally-";
constexpr std::size_t digits_of_a_name = 16;
constexpr char digit_words[] = "0123456789abcdef";

std::string hidden_name() {
  static std::random_device random;
  std::string name = prefix;
  for (std::size_t i = 0; i < digits_of_a_name; ++i) name += digit_words[random() % (sizeof digit_words - 1)];
  return name;
}

bool is_hidden_name(const std::string& name) {
  return name.size() == sizeof prefix - 1 + digits_of_a_name && name.starts_with(prefix) &&
         name.find_first_not_of(digit_words, sizeof prefix - 1) == std::string::npos;
}

std::string path_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

/// A file without a name, which no kill leaves behind; -1 where the file system has none.
int open_nameless(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0 || access(path_of(descriptor).c_str(), F_OK) == 0) return descriptor;
  close(descriptor);
  return -1;
}

/// Before it was locked somebody may have taken it for abandoned.
bool has_name_once_locked(int descriptor) {
  struct stat found {};
  return flock(descriptor, LOCK_EX) != 0 || (fstat(descriptor, &found) == 0 && found.st_nlink > 0);
}

}  // namespace

HiddenFile::HiddenFile(const fs::path& folder) : folder_(folder), descriptor_(open_nameless(folder)) {
  if (descriptor_ >= 0) flock(descriptor_, LOCK_EX);
  while (descriptor_ < 0) {
    name_ = folder / hidden_name();
    descriptor_ = open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) throw std::runtime_error(std::strerror(errno));
    if (descriptor_ < 0 || has_name_once_locked(descriptor_)) continue;
    close(descriptor_);
    descriptor_ = -1;
  }
}

HiddenFile::HiddenFile(HiddenFile&& other) noexcept
    : folder_(std::move(other.folder_)),
      name_(std::exchange(other.name_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

HiddenFile::~HiddenFile() {
  if (!name_.empty()) unlink(name_.c_str());
  if (descriptor_ >= 0) close(descriptor_);
}

bool HiddenFile::fill(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return fsync(descriptor_) == 0;
}

bool HiddenFile::appear() {
  while (name_.empty()) {
    const fs::path name = folder_ / hidden_name();
    if (linkat(AT_FDCWD, path_of(descriptor_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      name_ = name;
    } else if (errno != EEXIST) {
      return false;
    }
  }
  return true;
}

bool HiddenFile::become(const std::string& file) {
  if (std::rename(name_.c_str(), file.c_str()) != 0) return false;
  name_.clear();
  return true;
}

void remove_abandoned(const fs::path& folder) {
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    if (!is_hidden_name(entry.path().filename().string())) continue;
    const int descriptor = open(entry.path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    struct stat found {};
    const bool abandoned =
        fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) && flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    if (abandoned) unlink(entry.path().c_str());
    close(descriptor);
  }
}

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

FolderLock::FolderLock(const std::string& file)
    : descriptor_(open(folder_of(destination(file)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  int refused = descriptor_ < 0 ? -1 : flock(descriptor_, LOCK_EX);
  while (descriptor_ >= 0 && refused != 0 && errno == EINTR) refused = flock(descriptor_, LOCK_EX);
  if (refused == 0) return;
  const std::string reason = std::strerror(errno);
  if (descriptor_ >= 0) close(descriptor_);
  throw std::runtime_error("cannot lock the folder of " + file + ": " + reason);
}

FolderLock::~FolderLock() { close(descriptor_); }

}  // namespace tally
