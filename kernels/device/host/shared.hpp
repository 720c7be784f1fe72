// Shared arrays: views of the block's arena that check every index.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/executor/shared_memory.hpp"

namespace tally {
inline namespace TALLY_SIDE {

template <class T, std::size_t size, std::size_t... rest>
class Shared {
 public:
  Shared(T* first, const char* name) : first_(first), name_(name) {}

  template <class Index>
  decltype(auto) operator[](Index index) const {
    const auto i = static_cast<std::int64_t>(index);
    if (i < 0 || i >= static_cast<std::int64_t>(size)) executor::fail_shared_index(name_, i, size);
    if constexpr (sizeof...(rest) == 0) {
      return static_cast<T&>(first_[i]);
    } else {
      return Shared<T, rest...>(first_ + static_cast<std::size_t>(i) * (rest * ...), name_);
    }
  }

 private:
  T* first_;
  const char* name_;
};

/// Dynamic shared memory: as long as the launch asked for. Behaves as the pointer it is under CUDA.
template <class T>
class DynamicShared {
 public:
  DynamicShared(T* first, std::size_t size, const char* name, std::int64_t at = 0)
      : first_(first), size_(size), name_(name), at_(at) {}

  template <class Index>
  T& operator[](Index index) const {
    const std::int64_t i = at_ + static_cast<std::int64_t>(index);
    if (i < 0 || i >= static_cast<std::int64_t>(size_)) executor::fail_shared_index(name_, i, size_);
    return first_[i];
  }
  T& operator*() const { return (*this)[0]; }
  template <class Index>
  DynamicShared operator+(Index distance) const {
    return {first_, size_, name_, at_ + static_cast<std::int64_t>(distance)};
  }

 private:
  T* first_;
  std::size_t size_;
  const char* name_;
  std::int64_t at_;
};

template <class T, std::size_t... sizes>
Shared<T, sizes...> declare_shared(executor::SharedSlot& slot, const char* name) {
  return {static_cast<T*>(executor::shared_address(slot, sizeof(T) * (sizes * ...), name)), name};
}

template <class T>
DynamicShared<T> dynamic_shared(const char* name) {
  const executor::SharedMemory& memory = executor::shared_memory;
  return {reinterpret_cast<T*>(memory.arena), memory.dynamic_bytes / sizeof(T), name};
}

}  // namespace TALLY_SIDE
}  // namespace tally

#define TALLY_SHARED(T, name, ...)                                           \
  static constinit thread_local ::tally::executor::SharedSlot name##_slot{}; \
  const auto name = ::tally::declare_shared<T, __VA_ARGS__>(name##_slot, #name)
#define TALLY_DYNAMIC_SHARED(T, name) const auto name = ::tally::dynamic_shared<T>(#name)
