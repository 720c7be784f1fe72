#include "kernels/trace/tap_index.hpp"

#include <functional>
#include <stdexcept>
#include <utility>

namespace tally {

std::uint32_t TapIndex::hash_of(const TapView& name) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;  // spreads what differs in few bits
  const std::hash<std::string_view> of_text;
  const auto window = static_cast<std::uint64_t>(name.window), rank = static_cast<std::uint64_t>(name.rank + 1),
             pipe = static_cast<std::uint64_t>(name.pipe + 1),
             micro_batch = static_cast<std::uint64_t>(name.micro_batch);
  std::uint64_t hash =
      of_text(name.tensor) ^ ((window << 32 | (micro_batch & 0xffffffffu)) + (rank << 44) + (pipe << 56)) * odd;
  hash = (hash ^ hash >> 29) * odd + of_text(name.stage);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

void TapIndex::add(const TapView& name) {
  if (count_ + 1 == none) throw std::length_error("a trace of 2^32 taps");
  if (2 * (std::size_t{count_} + 1) > slots_.size()) grow();
  put({hash_of(name), count_++});
}

void TapIndex::put(const Slot& slot) {
  std::size_t i = slot.hash & mask();
  while (slots_[i].number != none) i = (i + 1) & mask();
  slots_[i] = slot;
}

void TapIndex::grow() {
  constexpr std::size_t fewest = 64;
  const std::vector<Slot> before =
      std::exchange(slots_, std::vector<Slot>(slots_.empty() ? fewest : 2 * slots_.size()));
  for (const Slot& slot : before)
    if (slot.number != none) put(slot);
}

}  // namespace tally
