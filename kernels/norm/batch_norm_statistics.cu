// The statistics of a batch norm: of its rows by three algorithms, or the running values of a frozen one.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/column_sum.hpp"
#include "kernels/reduction/welford.hpp"

// Batch statistics in two passes over the group's rows: mean, (batch_norm.1), then var, (batch_norm.2), from that
// rounded mean, and rstd, (batch_norm.3), rounded as kernels/arithmetic.md says; fp32.
//
//   x               [rows, features] S
//   mean, var, rstd [features]       fp32
//
// A block covers 32 columns; the additions of both passes run as kernels/reduction/column_sum.hpp says: one thread a
// column up to 63 rows, 8 from 64 on.
namespace tally::statistics_kernel {
namespace {

template <class S, int lanes>
__global__ void two_pass(const S* x, float* mean, float* var, float* rstd, std::int64_t rows, std::int64_t features,
                         float inverse_rows, float eps) {
  TALLY_SHARED(float, partial, lanes, column_tile);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + threadIdx.x;
  const std::int64_t my_rows = column < features ? rows : 0;
  float sum = 0.0f;
  for (std::int64_t row = threadIdx.y; row < my_rows; row += lanes) {
    sum = __fadd_rn(sum, to_float(x[row * features + column]));
  }
  const float centre = __fmul_rn(column_total<lanes>(sum, partial), inverse_rows);
  sum = 0.0f;
  for (std::int64_t row = threadIdx.y; row < my_rows; row += lanes) {
    const float d = __fsub_rn(to_float(x[row * features + column]), centre);
    sum = __fadd_rn(sum, __fmul_rn(d, d));
  }
  const float variance = __fmul_rn(column_total<lanes>(sum, partial), inverse_rows);
  if (column < features && threadIdx.y == 0) {
    mean[column] = centre;
    var[column] = variance;
    rstd[column] = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(variance, eps)));
  }
}

void statistics(Stream& stream, const BatchNormStatisticsArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_column_lanes(a.rows, [&]<int lanes>() {
      launch_columns<lanes, two_pass<S, lanes>>(stream, a.features, static_cast<const S*>(a.x), a.mean, a.var, a.rstd,
                                                a.rows, a.features, a.inverse_rows, a.eps);
    });
  });
}

const RegisterKernel registered(
    "batch_norm.statistics",
    {.variant = "two_pass", .algorithm = "two_pass", .additions = column_additions(), .as_written = true}, statistics);

}  // namespace
}  // namespace tally::statistics_kernel

// Batch statistics in one pass: mean, (batch_norm.1), var, (batch_norm.2), as max(0, E[x x] - mean mean), and rstd,
// (batch_norm.3), rounded as kernels/arithmetic.md says; fp32. Reads x once; where the mean is far above the spread the
// squares cancel.
//
//   x               [rows, features] S
//   mean, var, rstd [features]       fp32
//
// A block covers 32 columns; both sums run side by side as kernels/reduction/column_sum.hpp says: one thread a column
// up to 63 rows, 8 from 64 on.
namespace tally::statistics_one_pass_kernel {
namespace {

template <class S, int lanes>
__global__ void one_pass(const S* x, float* mean, float* var, float* rstd, std::int64_t rows, std::int64_t features,
                         float inverse_rows, float eps) {
  TALLY_SHARED(float, partial, lanes, column_tile);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + threadIdx.x;
  const std::int64_t my_rows = column < features ? rows : 0;
  float sum = 0.0f, squares = 0.0f;
  for (std::int64_t row = threadIdx.y; row < my_rows; row += lanes) {
    const float value = to_float(x[row * features + column]);
    sum = __fadd_rn(sum, value);
    squares = __fadd_rn(squares, __fmul_rn(value, value));
  }
  const float centre = __fmul_rn(column_total<lanes>(sum, partial), inverse_rows);
  const float square = __fmul_rn(column_total<lanes>(squares, partial), inverse_rows);
  const float difference = __fsub_rn(square, __fmul_rn(centre, centre));
  const float variance = difference < 0.0f ? 0.0f : difference;
  if (column < features && threadIdx.y == 0) {
    mean[column] = centre;
    var[column] = variance;
    rstd[column] = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(variance, eps)));
  }
}

void statistics(Stream& stream, const BatchNormStatisticsArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_column_lanes(a.rows, [&]<int lanes>() {
      launch_columns<lanes, one_pass<S, lanes>>(stream, a.features, static_cast<const S*>(a.x), a.mean, a.var, a.rstd,
                                                a.rows, a.features, a.inverse_rows, a.eps);
    });
  });
}

const RegisterKernel registered(
    "batch_norm.statistics",
    {.variant = "one_pass", .algorithm = "one_pass", .additions = column_additions(), .as_written = true}, statistics,
    KernelUse::when_named);

}  // namespace
}  // namespace tally::statistics_one_pass_kernel

// Batch statistics by Welford's updates and Chan's merges (kernels/reduction/welford.hpp): mean, (batch_norm.1), var,
// (batch_norm.2), as M / n, and rstd, (batch_norm.3), rounded as kernels/arithmetic.md says; fp32. Reads x once and
// never subtracts large squares.
//
//   x               [rows, features] S
//   mean, var, rstd [features]       fp32
//
// A block covers 32 columns. Up to 63 rows one thread a column updates row after row; from 64 on 8 threads a column,
// thread l updating by rows l, l + 8, ..., then l takes in l + 4, l + 2, l + 1. A lower thread never holds fewer rows.
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

// The statistics of a frozen batch norm: the running values, and rstd, (batch_norm.3), of the running variance, rounded
// as kernels/arithmetic.md says.
//
//   running_mean, running_var [features] M   mean, var, rstd [features] fp32
//
// One thread a feature, grid-stride. No sums.
namespace tally::frozen_statistics_kernel {
namespace {

template <class M>
__global__ void take_running(const M* running_mean, const M* running_var, float* mean, float* var, float* rstd,
                             std::int64_t features, float eps) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) {
    mean[i] = to_float(running_mean[i]);
    var[i] = to_float(running_var[i]);
    rstd[i] = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(var[i], eps)));
  }
}

void frozen_statistics(Stream& stream, const BatchNormStatisticsArguments& a) {
  by_storage(a.running_format, [&]<class M>(M) {
    launch_elements<take_running<M>>(stream, a.features, static_cast<const M*>(a.running_mean),
                                     static_cast<const M*>(a.running_var), a.mean, a.var, a.rstd, a.features, a.eps);
  });
}

const RegisterKernel registered("batch_norm.frozen_statistics", {.variant = "grid_stride", .as_written = true},
                                frozen_statistics);

}  // namespace
}  // namespace tally::frozen_statistics_kernel
