#include "oracle/case/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace tally {
namespace {

std::string what_stands_there(mode_t mode) {
  if (S_ISDIR(mode)) return "it is a folder";
  if (S_ISFIFO(mode)) return "it is a pipe";
  return "it is no regular file";
}

}  // namespace

/// A pipe that nobody writes to would be waited for: it is opened without waiting, and refused.
RegularFile::RegularFile(const std::filesystem::path& file)
    : descriptor_(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  if (descriptor_ < 0) throw std::runtime_error(errno == ENOENT ? "there is none" : std::strerror(errno));
  struct stat found {};
  const bool known = fstat(descriptor_, &found) == 0;
  if (known && S_ISREG(found.st_mode)) {
    size_ = static_cast<std::uint64_t>(found.st_size);
    return;
  }
  const std::string reason = known ? what_stands_there(found.st_mode) : std::strerror(errno);
  close(descriptor_);
  throw std::runtime_error(reason);
}

RegularFile::~RegularFile() { close(descriptor_); }

void RegularFile::read(std::uint64_t begin, void* to, std::size_t count) const {
  auto* next = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t taken = pread(descriptor_, next, count, static_cast<off_t>(begin));
    if (taken < 0 && errno == EINTR) continue;
    if (taken <= 0) throw std::runtime_error(taken == 0 ? "it ends too early" : std::strerror(errno));
    next += taken;
    begin += static_cast<std::uint64_t>(taken);
    count -= static_cast<std::size_t>(taken);
  }
}

std::string RegularFile::all(std::size_t most) const {
  if (size_ > most)
    throw std::runtime_error("it has " + std::to_string(size_) + " bytes, more than " + std::to_string(most));
  std::string bytes(static_cast<std::size_t>(size_), '\0');
  read(0, bytes.data(), bytes.size());
  return bytes;
}

}  // namespace tally
