#include "reports/text/stored_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace tally {
namespace {

/// An open file that is closed in any case.
class Open {
 public:
  explicit Open(const std::string& file) : file_(file), at_(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (at_ < 0) refuse(errno == ENOENT ? "there is none" : std::strerror(errno));
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  ~Open() {
    if (at_ >= 0) close(at_);
  }

  std::string text() const {
    const std::size_t size = regular_size();
    if (size > most_stored_bytes) refuse("it has more than " + std::to_string(most_stored_bytes) + " bytes");
    std::string text(size, '\0');
    for (std::size_t taken = 0; taken < size;) {
      const ssize_t more = read(at_, text.data() + taken, size - taken);
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) refuse(more == 0 ? "it ends too early" : std::strerror(errno));
      taken += static_cast<std::size_t>(more);
    }
    return text;
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    throw std::runtime_error(file_ + " cannot be read: " + reason);
  }
  std::size_t regular_size() const {
    struct stat found {};
    if (fstat(at_, &found) != 0) refuse(std::strerror(errno));
    if (S_ISDIR(found.st_mode)) refuse("it is a folder");
    if (S_ISFIFO(found.st_mode)) refuse("it is a pipe");
    if (!S_ISREG(found.st_mode)) refuse("it is no regular file");
    return static_cast<std::size_t>(found.st_size);
  }

  const std::string& file_;
  const int at_;
};

}  // namespace

/// Opened without waiting: nobody may ever write to a pipe.
std::string stored_text(const std::string& file) { return Open(file).text(); }

}  // namespace tally
