// What a thread does together with others: block barriers and warp collectives.
#pragma once

#include <cstdint>
#include <source_location>

namespace tally::executor {

enum class Collective { sync, shuffle, shuffle_up, shuffle_down, shuffle_xor, ballot, any, all };

/// A lane's part in a collective. `operand`: the shuffle's lane, distance or bits.
struct Contribution {
  Collective collective;
  unsigned mask;
  std::uint64_t value;
  int operand, width;
};

/// Returns once every thread of the block that has not ended is here. Throws ExecutorFinding when threads wait at
/// different barriers.
void wait_at_barrier(std::source_location at);

/// Returns the calling lane's result once every lane of the mask that has not ended contributed. Throws ExecutorFinding
/// when lanes of one mask call different collectives, or the caller is not in its own mask.
std::uint64_t exchange(const Contribution& contribution, std::source_location at);

unsigned lane_of_caller();

}  // namespace tally::executor
