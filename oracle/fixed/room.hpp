// Room that a thread keeps from product to product: fresh pages would cost as much as the work in them.
#pragma once

#include <cstdint>
#include <memory>

namespace tally::oracle::fixed {

template <class T>
class Room {
 public:
  /// At least `count` numbers, of any value.
  T* of(std::int64_t count) {
    if (count > size_) numbers_ = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(count));
    if (count > size_) size_ = count;
    return numbers_.get();
  }

 private:
  std::unique_ptr<T[]> numbers_;
  std::int64_t size_ = 0;
};

}  // namespace tally::oracle::fixed
