// Families of hard cases, and values that hurt the arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

// Values that hurt the arithmetic, written into a case's tensors.

/// Every second column is the one before it (`sign` 1) or its negative but for one ulp in some rows (`sign` -1): inner
/// products of such rows cancel.
void pair_columns(Tensor& tensor, int sign);
/// Every second row repeats the one before it.
void repeat_rows(Tensor& tensor);
/// ±2^k or a neighbour of it, k from -3 to 3.
void powers_of_two(Tensor& tensor, std::uint64_t seed);
/// Below twice the smallest normal number; half of the values are subnormal or zero.
void tiny(Tensor& tensor, std::uint64_t seed);
/// Times a power of two; what overflows becomes the largest finite number of its sign.
void times_power(Tensor& tensor, int exponent);
/// All elements of these tensors the same value, rounded to the format.
void fill(Tensor& tensor, double value);
/// The largest finite number of a float format.
double largest(Dtype dtype);

// Families of hard cases: inputs chosen to hurt the arithmetic, each run like a clean case.

struct HardFamily {
  std::string name, hurts;  // what it is, and what it does to the arithmetic
  /// A case of the family, another one for every seed; what the family leaves open (recipe, sizes) is drawn.
  Case (*make)(Dtype storage, std::uint64_t seed);
  int weight = 1;  // cases, relative to the other families
};

const std::vector<HardFamily>& hard_families();

}  // namespace tally
