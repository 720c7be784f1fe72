// Which of a trace's taps has a name, found without making text.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/trace/tap_name.hpp"

namespace tally {

/// Taps are numbered in the order they are added. Names are kept by whoever keeps the taps.
class TapIndex {
 public:
  /// The number of the tap with this name, where `name_at(number)` is what a tap is called.
  template <class NameAt>
  std::optional<std::size_t> find(const TapView& name, const NameAt& name_at) const {
    if (slots_.empty()) return std::nullopt;
    const std::uint32_t hash = hash_of(name);
    for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
      const Slot& slot = slots_[i];
      if (slot.number == none) return std::nullopt;
      if (slot.hash == hash && name_at(slot.number) == name) return slot.number;
    }
  }

  /// Gives the next number to a name that has none.
  void add(const TapView& name);

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Slot {
    std::uint32_t hash = 0, number = none;
  };

  static std::uint32_t hash_of(const TapView& name);
  std::size_t mask() const { return slots_.size() - 1; }
  void put(const Slot& slot);
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::uint32_t count_ = 0;
};

}  // namespace tally
