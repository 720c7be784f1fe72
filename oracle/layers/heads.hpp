// Heads: what the options of attention and rotary layers say, for their mathematics and their kernels.
#pragma once

#include <cstdint>

#include "oracle/case/case.hpp"

namespace tally {

// What the options of an attention layer say, for its mathematics and its kernels.

/// Heads of k and v: `kv_heads`, and `heads` where that is 0.
std::int64_t key_heads_of(const Choice& attention);

/// Whether a mask drops some of its weights: `p` is not 0.
bool drops_weights(const Choice& attention);

// Where the pairs of a rotary layer lie in a row, for its mathematics and its kernels.

/// The pairs of a row of `heads` heads of `size` features: the first `rotated` of each head turn, in pairs; the others
/// stay.
struct RotaryPairs {
  std::int64_t heads, size, rotated;
  bool interleaved;

  RotaryPairs(const Choice& rotary, std::int64_t features);
  std::int64_t pairs() const { return rotated / 2; }
  /// The features of pair i of head h: `half` pairs i with i + rotated / 2, `interleaved` 2 i with 2 i + 1.
  std::int64_t first(std::int64_t h, std::int64_t i) const { return h * size + (interleaved ? 2 * i : i); }
  std::int64_t second(std::int64_t h, std::int64_t i) const { return first(h, i) + (interleaved ? 1 : pairs()); }
};

}  // namespace tally
