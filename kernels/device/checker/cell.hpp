// The shadow of a few bytes: who touched them last, and how.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/checker/clock.hpp"

namespace tally::checker {

/// The accesses that a cell remembers. Two readers, neither known to have happened before the other, are enough to see
/// nearly every race.
struct alignas(64) Cell {
  Stamp write, atomic, read[2];
};

/// A stretch of memory with its shadow: one cell for 1 << shift bytes, fewer once something smaller was touched.
struct Shadowed {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  Cell* cells = nullptr;  // room for one a byte
  unsigned shift = 2;
};

/// From now on one cell for 1 << shift bytes of the first `used` bytes.
void split_cells(Shadowed& memory, unsigned shift, std::size_t used);

}  // namespace tally::checker
