// What the kernels of synchronised batch_norm take: statistics that ranks put together of a micro-step. Matrices are
// [rows, features], row-major, S the storage format; all else is fp32.
#pragma once

#include <cstdint>

#include "oracle/case/tensors/tensor.hpp"

namespace tally {

/// Column sums of this rank's rows: `sum` of x and `squares` of x², or, with `mean`, of (x - mean)². Each [features], or
/// nullptr where it is not wanted.
struct StepSumsArguments {
  Dtype storage;
  const void* x;
  const float* mean;
  float *sum, *squares;
  std::int64_t rows, features;
};

/// Statistics by sums over all ranks, [features]. `sum` gives `mean`, and `squares` var and rstd: sums of x² where
/// `of_deviations` is false, else of squared deviations from the mean that stands in `mean`. What is nullptr is neither
/// read nor written.
struct PoolSumsArguments {
  const float *sum, *squares;
  float *mean, *var, *rstd;
  std::int64_t features;
  float inverse_rows, eps;  // 1 / rows of all ranks
  bool of_deviations;
};

/// Statistics by those of every rank, means and variances [ranks, features]; counts: rows of each.
struct MergeMomentsArguments {
  const float *means, *vars;
  const std::int64_t* counts;
  float *mean, *var, *rstd;
  std::int64_t ranks, features;
  float eps;
};

}  // namespace tally
