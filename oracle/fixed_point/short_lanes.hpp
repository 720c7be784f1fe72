// Eight balls of fixed size at once, field by field, in the registers that there are: the same operations, and so the
// same bits, on every processor. What is inlined here takes the registers of the function that it is inlined into
// (oracle/real/threads.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "oracle/real/short_ball.hpp"

#define TALLY_LANES inline __attribute__((always_inline))
#pragma GCC diagnostic ignored "-Wpsabi"  // what is always inlined is never called

namespace tally::oracle::fixed {

constexpr int ball_lanes = 8;
using WordLanes __attribute__((vector_size(64), aligned(8), may_alias)) = std::uint64_t;
using IntegerLanes __attribute__((vector_size(64), aligned(8), may_alias)) = std::int64_t;
using RealLanes __attribute__((vector_size(64), aligned(8), may_alias)) = double;

/// The words of eight balls; the last holds exponent, sign and what is known of it.
struct BallLanes {
  WordLanes low, high;  // of the midpoint
  RealLanes radius;
  WordLanes rest;
};

static_assert(sizeof(ShortBall) == 32 && offsetof(ShortBall, middle) == 0 && offsetof(ShortBall, radius) == 16 &&
              offsetof(ShortBall, exponent) == 24 && offsetof(ShortBall, negative) == 28 &&
              offsetof(ShortBall, non_negative) == 29);
constexpr int negative_bit = 32, non_negative_bit = 40;  // of the last word

/// Eight words from there on: these types, whose alignment is that of a word, are lost where `auto` or a template takes
/// them over.
TALLY_LANES const WordLanes& eight(const void* from) { return *reinterpret_cast<const WordLanes*>(from); }
TALLY_LANES WordLanes& eight(void* from) { return *reinterpret_cast<WordLanes*>(from); }

/// Neighbours.
TALLY_LANES void load(BallLanes& to, const ShortBall* from) {
  const WordLanes a = eight(from), b = eight(from + 2), c = eight(from + 4), d = eight(from + 6);
  const WordLanes middles = __builtin_shufflevector(a, b, 0, 4, 8, 12, 1, 5, 9, 13),
                  others = __builtin_shufflevector(a, b, 2, 6, 10, 14, 3, 7, 11, 15),
                  more_middles = __builtin_shufflevector(c, d, 0, 4, 8, 12, 1, 5, 9, 13),
                  more_others = __builtin_shufflevector(c, d, 2, 6, 10, 14, 3, 7, 11, 15);
  to.low = __builtin_shufflevector(middles, more_middles, 0, 1, 2, 3, 8, 9, 10, 11);
  to.high = __builtin_shufflevector(middles, more_middles, 4, 5, 6, 7, 12, 13, 14, 15);
  to.radius = (RealLanes)__builtin_shufflevector(others, more_others, 0, 1, 2, 3, 8, 9, 10, 11);
  to.rest = __builtin_shufflevector(others, more_others, 4, 5, 6, 7, 12, 13, 14, 15);
}

TALLY_LANES void store(ShortBall* to, const BallLanes& from) {
  const auto radius = (WordLanes)from.radius;
  const WordLanes middles = __builtin_shufflevector(from.low, from.high, 0, 1, 2, 3, 8, 9, 10, 11),
                  others = __builtin_shufflevector(radius, from.rest, 0, 1, 2, 3, 8, 9, 10, 11),
                  more_middles = __builtin_shufflevector(from.low, from.high, 4, 5, 6, 7, 12, 13, 14, 15),
                  more_others = __builtin_shufflevector(radius, from.rest, 4, 5, 6, 7, 12, 13, 14, 15);
  eight(to) = __builtin_shufflevector(middles, others, 0, 4, 8, 12, 1, 5, 9, 13);
  eight(to + 2) = __builtin_shufflevector(middles, others, 2, 6, 10, 14, 3, 7, 11, 15);
  eight(to + 4) = __builtin_shufflevector(more_middles, more_others, 0, 4, 8, 12, 1, 5, 9, 13);
  eight(to + 6) = __builtin_shufflevector(more_middles, more_others, 2, 6, 10, 14, 3, 7, 11, 15);
}

/// The exponents; the signs in all bits, as comparisons give them.
TALLY_LANES IntegerLanes exponents(const BallLanes& x) { return (IntegerLanes)(x.rest << 32) >> 32; }
TALLY_LANES WordLanes negatives(const BallLanes& x) { return -(x.rest >> negative_bit & 1); }

TALLY_LANES RealLanes larger_of(const RealLanes& x, const RealLanes& y) { return x > y ? x : y; }
TALLY_LANES RealLanes smaller_of(const RealLanes& x, const RealLanes& y) { return x < y ? x : y; }
TALLY_LANES RealLanes kept_where(const IntegerLanes& mask, const RealLanes& x) {
  return (RealLanes)((IntegerLanes)x & mask);
}

/// 2^n, |n| <= 1022.
TALLY_LANES RealLanes two_to(const IntegerLanes& n) { return (RealLanes)((n + 1023) << 52); }

}  // namespace tally::oracle::fixed
