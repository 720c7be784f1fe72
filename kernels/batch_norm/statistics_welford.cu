// Batch statistics by Welford's updates and Chan's merges (kernels/reduction/welford.hpp): mean, (batch_norm.1), var,
// (batch_norm.2), as M / n, and rstd, (batch_norm.3), rounded as kernels/arithmetic.md says; fp32. Reads x once and
// never subtracts large squares.
//
//   x               [rows, features] S
//   mean, var, rstd [features]       fp32
//
// A block covers 32 columns. Up to 63 rows one thread a column updates row after row; from 64 on 8 threads a column,
// thread l updating by rows l, l + 8, ..., then l takes in l + 4, l + 2, l + 1. A lower thread never holds fewer rows.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/column_sum.hpp"
#include "kernels/reduction/launch_columns.hpp"
#include "kernels/reduction/welford.hpp"

namespace tally::statistics_welford_kernel {
namespace {

/// The column's sample in its first thread.
template <int lanes>
__device__ WelfordSample column_sample(WelfordSample mine, Shared<float, 3, lanes, column_tile> partial) {
  if constexpr (lanes > 1) {
    const unsigned lane = threadIdx.y, column = threadIdx.x;
    partial[0][lane][column] = mine.count;
    partial[1][lane][column] = mine.mean;
    partial[2][lane][column] = mine.squares;
    __syncthreads();
    for (unsigned half = lanes / 2; half > 0; half /= 2) {
      if (lane < half) {
        WelfordSample other;
        other.count = partial[0][lane + half][column];
        other.mean = partial[1][lane + half][column];
        other.squares = partial[2][lane + half][column];
        mine.add(other);
        partial[0][lane][column] = mine.count;
        partial[1][lane][column] = mine.mean;
        partial[2][lane][column] = mine.squares;
      }
      __syncthreads();
    }
  }
  return mine;
}

template <class S, int lanes>
__global__ void welford(const S* x, float* mean, float* var, float* rstd, std::int64_t rows, std::int64_t features,
                        float inverse_rows, float eps) {
  TALLY_SHARED(float, partial, 3, lanes, column_tile);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + threadIdx.x;
  const std::int64_t my_rows = column < features ? rows : 0;
  WelfordSample sample;
  for (std::int64_t row = threadIdx.y; row < my_rows; row += lanes) sample.add(to_float(x[row * features + column]));
  sample = column_sample<lanes>(sample, partial);
  if (column < features && threadIdx.y == 0) {
    const float variance = __fmul_rn(sample.squares, inverse_rows);
    mean[column] = sample.mean;
    var[column] = variance;
    rstd[column] = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(variance, eps)));
  }
}

void statistics(Stream& stream, const BatchNormStatisticsArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_column_lanes(a.rows, [&]<int lanes>() {
      launch_columns<lanes, welford<S, lanes>>(stream, a.features, static_cast<const S*>(a.x), a.mean, a.var, a.rstd,
                                               a.rows, a.features, a.inverse_rows, a.eps);
    });
  });
}

const RegisterKernel registered(
    "batch_norm.statistics",
    {.variant = "welford", .algorithm = "welford", .additions = column_additions(), .as_written = true}, statistics,
    KernelUse::when_named);

}  // namespace
}  // namespace tally::statistics_welford_kernel
