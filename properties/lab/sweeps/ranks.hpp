// What an end-to-end check of the gradients of many ranks still tells.
#pragma once

#include <cstdint>

namespace tally {

/// Gradients that ranks added up by a ring: how many there were, how many the bound is smaller than, in the 2-norm, and
/// how many lay outside of it.
struct HeldGradients {
  std::uint64_t gradients = 0, informative = 0, failed = 0;
};

/// Over drawn cases in fp32 of one window, up to two linear layers and two rows a rank; a function of (seed, ranks)
/// alone.
HeldGradients gradients_of_ranks(std::uint64_t seed, int ranks, std::uint64_t cases);

}  // namespace tally
