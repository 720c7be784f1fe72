// The binomial distribution, and what is tested by it.
// Defined in sign_test.cpp.
#pragma once

#include <cstdint>

namespace tally {

/// The chance of at least `least` of `n` independent trials that succeed with chance `share`.
double binomial_tail(std::uint64_t least, std::uint64_t n, double share);

}  // namespace tally
