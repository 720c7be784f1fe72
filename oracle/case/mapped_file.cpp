#include "oracle/case/mapped_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string_view>

namespace tally {
namespace {

constexpr int environment_error = 3;
constexpr std::size_t kept_at_most = std::size_t{1} << 23;

std::mutex all_files;
std::set<const MappedFile*>& files() {
  static std::set<const MappedFile*> all;
  return all;
}

/// The kernel's answer to a read behind the end of a mapped file.
extern "C" void end_for_lost_bytes(int) {
  constexpr std::string_view line = "error: a file became shorter while it was read; run again once it is written\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  _exit(environment_error);
}

/// Unless somebody else listens.
void listen_for_lost_bytes() {
  struct sigaction now {};
  if (sigaction(SIGBUS, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  now.sa_handler = end_for_lost_bytes;
  sigaction(SIGBUS, &now, nullptr);
}

}  // namespace

MappedFile::MappedFile(const RegularFile& file) : size_(file.size()) {
  if (size_ == 0) return;
  void* const place = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (place == MAP_FAILED) throw std::runtime_error(std::strerror(errno));
  data_ = static_cast<const std::byte*>(place);
  const std::lock_guard lock(all_files);
  if (files().empty()) listen_for_lost_bytes();
  files().insert(this);
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  const std::lock_guard lock(all_files);
  files().erase(this);
  munmap(const_cast<std::byte*>(data_), size_);
}

void mapped_bytes_read(std::size_t bytes) {
  static std::atomic<std::size_t> since{0};
  if (since.fetch_add(bytes) + bytes < kept_at_most) return;
  since = 0;
  const std::lock_guard lock(all_files);
  for (const MappedFile* file : files()) madvise(const_cast<std::byte*>(file->data()), file->size(), MADV_DONTNEED);
}

}  // namespace tally
