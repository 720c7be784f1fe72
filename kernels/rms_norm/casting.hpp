// Where an RMS norm of 16 bits rounds: x rstd is a float until it is multiplied by the weight, or is stored in S before,
// as Transformers' modules have it, whose backward stores dy w and dy h as well.
#pragma once

#include "kernels/elementwise.hpp"

namespace tally {

enum class Casting { last, first };

/// What is multiplied by the weight, or comes from such a product.
template <class S, Casting casting>
__device__ float on_the_way(float value) {
  if constexpr (casting == Casting::first) return to_float(from_float<S>(value));
  return value;
}

}  // namespace tally
