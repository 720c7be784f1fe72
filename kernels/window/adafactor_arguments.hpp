// What the kernel of Adafactor takes.
#pragma once

#include <cstdint>

#include "oracle/case/tensors/tensor.hpp"

namespace tally {

/// Gradient fp32; the others in the master format, in place: `row` [matrices, rows], `column` [matrices, columns]. Of a
/// vector `column` is nullptr, `row` its variance, and each element a row of one column. `sums` fp32 [2 + matrices]: of
/// the squares of the parameter and of the update, and the mean of each matrix's rows. What sums are divided by comes
/// as floats.
struct AdafactorArguments {
  const float* gradient;
  void *parameter, *row, *column;
  float* sums;
  std::int64_t matrices, rows, columns;
  float per_row, per_column, per_tensor;  // elements
  float share, rho, eps1, squared_eps1, eps2, d;
  Dtype format = Dtype::fp32;
};

}  // namespace tally
