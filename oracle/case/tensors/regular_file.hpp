// A file's bytes, of bounded size, read or mapped. A folder, a pipe or a device that never ends is refused before
// anything is read. Defined in bytes.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "oracle/case/tensors/bytes.hpp"

namespace tally {

class RegularFile {
 public:
  /// Throws std::runtime_error that says what stands there instead of a file; it does not name the file.
  explicit RegularFile(const std::filesystem::path& file);
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;
  ~RegularFile();

  std::uint64_t size() const { return size_; }
  /// Open as long as this lives.
  int descriptor() const { return descriptor_; }
  /// Reads `count` bytes from `begin` on; throws std::runtime_error where the file ends before.
  void read(std::uint64_t begin, void* to, std::size_t count) const;
  /// Everything; throws std::runtime_error for more than `most` bytes.
  std::string all(std::size_t most) const;

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

// A mapped file that becomes shorter while it is read ends the program; these are its last words.

/// The file, mapped; the line that ends the program calls it by this name.
std::shared_ptr<const MappedFile> mapped_under(const std::string& name, const RegularFile& file);

}  // namespace tally
