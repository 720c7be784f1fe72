// Batch statistics in one pass: mean, (batch_norm.1), var, (batch_norm.2), as max(0, E[x x] - mean mean), and rstd,
// (batch_norm.3), rounded as kernels/arithmetic.md says; fp32. Reads x once; where the mean is far above the spread the
// squares cancel.
//
//   x               [rows, features] S
//   mean, var, rstd [features]       fp32
//
// A block covers 32 columns; both sums run side by side as kernels/reduction/column_sum.hpp says: one thread a column
// up to 63 rows, 8 from 64 on.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/column_sum.hpp"
#include "kernels/reduction/launch_columns.hpp"

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
