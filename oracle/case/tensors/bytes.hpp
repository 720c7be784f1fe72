// The bytes of a tensor: its own, or those of a mapped file until the first of them is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tally {

// A file's bytes as the machine maps them: memory is taken while they are read, and given back now and then.

class RegularFile;

/// Read only. A file that becomes shorter while it is mapped ends the program with one line and the code of a problem
/// outside of it, as there is nothing to go on with.
class MappedFile {
 public:
  /// Throws std::runtime_error that says why the file cannot be mapped; it does not name the file.
  explicit MappedFile(const RegularFile& file);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  const std::byte* data() const { return data_; }
  std::uint64_t size() const { return size_; }

 private:
  const std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
};

/// Whoever goes through large tensors says so as it goes on: about so many bytes were read since the last call. After
/// some megabytes the pages of all mapped files are given back; what is read again comes from the file.
void mapped_bytes_read(std::size_t bytes);

/// As std::vector<std::byte> where it has the same members. A function that could write takes a copy of a file's bytes
/// first.
class Bytes {
 public:
  Bytes() = default;
  Bytes(std::vector<std::byte> own) : own_(std::move(own)) {}
  /// `size` bytes of the file from `begin` on; they are there.
  Bytes(std::shared_ptr<const MappedFile> file, std::size_t begin, std::size_t size)
      : file_(std::move(file)), begin_(begin), size_(size) {}

  std::size_t size() const { return file_ ? size_ : own_.size(); }
  bool empty() const { return size() == 0; }
  const std::byte* data() const { return file_ ? file_->data() + begin_ : own_.data(); }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + size(); }
  const std::byte& operator[](std::size_t i) const { return data()[i]; }
  /// Throws std::out_of_range.
  std::byte at(std::size_t i) const;

  std::byte* data() { return own().data(); }
  std::byte* begin() { return data(); }
  std::byte* end() { return data() + size(); }
  std::byte& operator[](std::size_t i) { return own()[i]; }
  /// To change how many there are.
  std::vector<std::byte>& own() {
    if (file_) copy();
    return own_;
  }

  friend bool operator==(const Bytes& a, const Bytes& b);

 private:
  void copy();

  std::vector<std::byte> own_;
  std::shared_ptr<const MappedFile> file_;  // nullptr: own
  std::size_t begin_ = 0, size_ = 0;        // in the file
};

// Memory that one case gave back is there for the next. Tensors of a case come and go by the thousand, and as glibc
// starts, each time the last of them goes the heap shrinks, and the kernel clears the same pages again at the next.

/// Whether this program's heap stays as large as it was: so from the start on, where the C library is glibc.
bool heap_is_kept();

}  // namespace tally
