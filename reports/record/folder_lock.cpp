#include "reports/record/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "reports/record/write_together.hpp"

namespace tally {

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
