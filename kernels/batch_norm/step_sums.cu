// Column sums of one rank's rows of a micro-step: sum of x, and of x x or, around the mean of all ranks' rows, of d d,
// d = x - mean, rounded as kernels/arithmetic.md says; fp32.
//
//   x            [rows, features] S
//   mean         [features]       fp32, or none
//   sum, squares [features]       fp32, or none
//
// A block covers 32 columns; both sums run side by side as kernels/reduction/column_sum.hpp says: one thread a column
// up to 63 rows, 8 from 64 on.
#include "kernels/batch_norm/step_arguments.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/reduction/column_sum.hpp"
#include "kernels/reduction/launch_columns.hpp"

namespace tally::step_sums_kernel {
namespace {

template <class S, int lanes>
__global__ void sum_step(const S* x, const float* mean, float* sum, float* squares, std::int64_t rows,
                         std::int64_t features) {
  TALLY_SHARED(float, partial, lanes, column_tile);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + threadIdx.x;
  const std::int64_t my_rows = column < features ? rows : 0;
  const float centre = mean != nullptr && column < features ? mean[column] : 0.0f;
  float all = 0.0f, all_squares = 0.0f;
  for (std::int64_t row = threadIdx.y; row < my_rows; row += lanes) {
    const float value = to_float(x[row * features + column]);
    const float d = mean != nullptr ? __fsub_rn(value, centre) : value;
    all = __fadd_rn(all, value);
    all_squares = __fadd_rn(all_squares, __fmul_rn(d, d));
  }
  all = column_total<lanes>(all, partial);
  all_squares = column_total<lanes>(all_squares, partial);
  if (column < features && threadIdx.y == 0) {
    if (sum != nullptr) sum[column] = all;
    if (squares != nullptr) squares[column] = all_squares;
  }
}

void step_sums(Stream& stream, const StepSumsArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_column_lanes(a.rows, [&]<int lanes>() {
      launch_columns<lanes, sum_step<S, lanes>>(stream, a.features, static_cast<const S*>(a.x), a.mean, a.sum,
                                                a.squares, a.rows, a.features);
    });
  });
}

const RegisterKernel registered("batch_norm.step_sums", {.variant = "column_lanes", .additions = column_additions()},
                                step_sums, KernelUse::when_named);

}  // namespace
}  // namespace tally::step_sums_kernel
