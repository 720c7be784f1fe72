// Counts what a device hands out while the account exists: bytes held now and at most, in all and by kind. Without an
// account nothing is counted.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "kernels/device/device.hpp"

namespace tally {

/// Bytes are those asked for, guard zones left out. Buffers that were there before the account do not count. All
/// threads' buffers on the device count.
class MemoryAccount {
 public:
  /// `kind_of` sorts buffers by their name.
  MemoryAccount(const Device& on, std::string (*kind_of)(const std::string& name));
  ~MemoryAccount();
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  std::size_t current() const { return all_.now; }
  std::size_t peak() const { return all_.peak; }
  /// The most that each kind held at any time; their sum is at least peak().
  std::map<std::string, std::size_t> peaks() const;

  /// What Device tells every account.
  static void note_taken(const Device& on, const void* address, const std::string& name, std::size_t bytes);
  static void note_released(const Device& on, const void* address);

 private:
  struct Bytes {
    std::size_t now = 0, peak = 0;
    void take(std::size_t bytes);
  };
  struct Held {
    std::string kind;
    std::size_t bytes;
  };

  const Device* device_;
  std::string (*kind_of_)(const std::string& name);
  Bytes all_;
  std::map<std::string, Bytes> by_kind_;
  std::map<const void*, Held> held_;
};

}  // namespace tally
