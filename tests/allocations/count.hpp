// How often this program took memory. Defined in count.cpp, which replaces operator new.
#pragma once

#include <cstddef>

namespace tally {

std::size_t allocations_so_far();

/// How often `work` takes memory.
template <class Work>
std::size_t allocations(const Work& work) {
  const std::size_t before = allocations_so_far();
  work();
  return allocations_so_far() - before;
}

}  // namespace tally
