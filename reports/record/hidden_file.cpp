#include "reports/record/hidden_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace tally {
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

}  // namespace tally
