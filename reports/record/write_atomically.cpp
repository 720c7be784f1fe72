#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "reports/record/record.hpp"

namespace tally {
namespace {

/// A file beside the target that vanishes unless it is renamed.
class Temporary {
 public:
  explicit Temporary(const std::string& target) : name_(target + ".XXXXXX"), descriptor_(mkstemp(name_.data())) {
    if (descriptor_ < 0) throw std::runtime_error("cannot write " + target + ": " + std::strerror(errno));
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!name_.empty()) unlink(name_.c_str());
  }
  bool fill(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }
  bool finish(mode_t mode) {
    const bool kept = fchmod(descriptor_, mode) == 0 && fsync(descriptor_) == 0;
    const bool closed = close(descriptor_) == 0;
    descriptor_ = -1;
    return kept && closed;
  }
  bool rename_to(const std::string& target) {
    if (std::rename(name_.c_str(), target.c_str()) != 0) return false;
    name_.clear();
    return true;
  }

 private:
  std::string name_;
  int descriptor_;
};

/// The mode that an ordinary new file would get; mkstemp gives 0600.
mode_t usual_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/// Where a name leads: through symbolic links to the file that they name, there or not. A device or a pipe stays what
/// it is.
std::string destination(const std::string& file) {
  namespace fs = std::filesystem;
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
  return at.string();
}

}  // namespace

void write_atomically(const std::string& file, std::string_view content) {
  const std::string target = destination(file);
  Temporary temporary(target);
  if (!temporary.fill(content) || !temporary.finish(usual_mode()) || !temporary.rename_to(target))
    throw std::runtime_error("cannot write " + file + ": " + std::strerror(errno));
}

}  // namespace tally
