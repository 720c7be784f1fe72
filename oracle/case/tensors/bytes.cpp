// Bytes of files, read or mapped, and those of a tensor.
#include "oracle/case/tensors/bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>  // says whether the library is glibc
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "oracle/case/tensors/regular_file.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

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

namespace {

constexpr int environment_error = 3;
constexpr std::size_t kept_at_most = std::size_t{1} << 23;

std::mutex all_files;
std::set<const MappedFile*>& files() {
  static std::set<const MappedFile*> all;
  return all;
}

constexpr std::string_view what_happened =
    " became shorter while it was read; run again when it is completely written\n";

/// A mapped file with a name, for a signal's handler, which may take no lock; further ones are not named there.
struct NamedMap {
  std::string last_line;
  std::atomic<const MappedFile*> file{nullptr};
};
std::array<NamedMap, 64> named_maps;

/// No terminal obeys it, and it is no longer than a message may be.
std::string tame(const std::string& name) {
  constexpr std::size_t longest = 4000;
  std::string text = name.substr(0, longest);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  return text;
}

void say(std::string_view text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

/// The kernel's answer to a read behind the end of a mapped file.
extern "C" void end_for_lost_bytes(int, siginfo_t* found, void*) {
  std::string_view line;
  const auto at = reinterpret_cast<std::uintptr_t>(found->si_addr);
  for (const NamedMap& map : named_maps) {
    const MappedFile* file = map.file;
    if (file != nullptr && at - reinterpret_cast<std::uintptr_t>(file->data()) < file->size()) line = map.last_line;
  }
  if (line.empty()) say("error: a file"), line = what_happened;
  say(line);
  _exit(environment_error);
}

/// Unless somebody else listens.
void listen_for_lost_bytes() {
  struct sigaction now {};
  if (sigaction(SIGBUS, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  now.sa_sigaction = end_for_lost_bytes;
  now.sa_flags |= SA_SIGINFO;
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
  for (NamedMap& map : named_maps)
    if (map.file == this) map.file = nullptr;
  munmap(const_cast<std::byte*>(data_), size_);
}

std::shared_ptr<const MappedFile> mapped_under(const std::string& name, const RegularFile& file) {
  auto mapped = std::make_shared<const MappedFile>(file);
  const std::lock_guard lock(all_files);
  const auto free = std::find_if(named_maps.begin(), named_maps.end(), [](const NamedMap& map) { return !map.file; });
  if (mapped->size() == 0 || free == named_maps.end()) return mapped;
  free->last_line = "error: " + tame(name) + std::string(what_happened);
  free->file = mapped.get();
  return mapped;
}

void mapped_bytes_read(std::size_t bytes) {
  static std::atomic<std::size_t> since{0};
  if (since.fetch_add(bytes) + bytes < kept_at_most) return;
  since = 0;
  const std::lock_guard lock(all_files);
  for (const MappedFile* file : files()) madvise(const_cast<std::byte*>(file->data()), file->size(), MADV_DONTNEED);
}

std::byte Bytes::at(std::size_t i) const {
  if (i >= size()) throw std::out_of_range("byte " + std::to_string(i) + " of " + std::to_string(size()));
  return data()[i];
}

void Bytes::copy() {
  own_.assign(file_->data() + begin_, file_->data() + begin_ + size_);
  file_.reset();
}

bool operator==(const Bytes& a, const Bytes& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || a.data() == b.data() || std::memcmp(a.data(), b.data(), a.size()) == 0;
}

namespace {

bool keep_heap() {
#ifdef __GLIBC__
  constexpr int kept = 64 << 20;    // bytes behind the last block in use
  constexpr int step = 16 << 20;    // by which the heap grows: address space, until it is written
  constexpr int outside = 4 << 20;  // from here on a block stands outside the heap; glibc takes no more
  return mallopt(M_TRIM_THRESHOLD, kept) == 1 && mallopt(M_TOP_PAD, step) == 1 &&
         mallopt(M_MMAP_THRESHOLD, outside) == 1;
#else
  return false;
#endif
}

const bool heap_kept = keep_heap();

}  // namespace

bool heap_is_kept() { return heap_kept; }

}  // namespace tally
