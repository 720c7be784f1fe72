// The fixed-point format: whole numbers of 52 L bits, in L limbs of 52 (what AVX-512 IFMA multiplies), L = 3, 5 or 7.
// A number A with -2^h <= A < 2^h, h = 52 L - 1, is held as X = A + 2^h, so that no limb has a sign.
#pragma once

#include <bit>
#include <cstdint>

namespace tally::oracle::fixed {

constexpr int limb_bits = 52;
constexpr std::uint64_t limb_mask = (std::uint64_t{1} << limb_bits) - 1;
/// 2^h in units of the highest limb.
constexpr std::uint64_t top_half = std::uint64_t{1} << (limb_bits - 1);
/// The most terms of one element of a product.
constexpr std::int64_t most_terms = std::int64_t{1} << 20;

/// h: every number is at most 2^h in magnitude.
constexpr int magnitude_bits(int limbs) { return limb_bits * limbs - 1; }

/// ceil(log2 terms), 0 for none.
constexpr int bits_of_terms(std::int64_t terms) {
  return terms < 2 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(terms - 1)));
}

/// g: how far the fast routes' own errors stay below half a unit of a product (oracle/fixed.md).
constexpr int guard_bits = 20;
/// d: an element of a product is the whole number nearest to its exact sum of `terms` products over 2^d.
constexpr int dropped_bits(int limbs, std::int64_t terms) {
  return magnitude_bits(limbs) + guard_bits + bits_of_terms(terms);
}
/// The error of a product of exact operands is at most 2^-bits of (terms 2^h 2^h), the most that an element can be.
constexpr int certified_bits(int limbs) { return magnitude_bits(limbs) - guard_bits; }
static_assert(certified_bits(3) >= 113 + 2 && certified_bits(5) >= 237 + 2 && certified_bits(7) >= 332 + 2,
              "2 bits for scales that are powers of two");

}  // namespace tally::oracle::fixed
