// A file's bytes as the machine maps them: memory is taken while they are read, and given back now and then.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally {

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

}  // namespace tally
