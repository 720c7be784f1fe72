// dw = sum dy h over rows, (rms_norm.4), rounded as kernels/arithmetic.md says; store S.
//
//   x, dy [rows, features] S   rstd [rows] fp32   dw [features] S
//
// A block covers 32 columns; the sum runs as kernels/reduction/column_sum.hpp says: one thread a column up to 63 rows,
// 8 from 64 on.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/column_sum.hpp"
#include "kernels/reduction/launch_columns.hpp"

namespace tally {
namespace {

template <class S, int lanes>
__global__ void sum_columns(const S* x, const S* dy, const float* rstd, S* dw, std::int64_t rows,
                            std::int64_t features) {
  TALLY_SHARED(float, partial, lanes, column_tile);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + threadIdx.x;
  float sum = 0.0f;
  if (column < features) {
    for (std::int64_t row = threadIdx.y; row < rows; row += lanes) {
      const std::int64_t i = row * features + column;
      sum = __fadd_rn(sum, __fmul_rn(to_float(dy[i]), __fmul_rn(to_float(x[i]), rstd[row])));
    }
  }
  sum = column_total<lanes>(sum, partial);
  if (column < features && threadIdx.y == 0) dw[column] = from_float<S>(sum);
}

void gradient(Stream& stream, const NormGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_column_lanes(a.rows, [&]<int lanes>() {
      launch_columns<lanes, sum_columns<S, lanes>>(stream, a.features, static_cast<const S*>(a.x),
                                                   static_cast<const S*>(a.dy), a.rstd, static_cast<S*>(a.dw), a.rows,
                                                   a.features);
    });
  });
}

const RegisterKernel registered("rms_norm.weight_gradient",
                                {.variant = "column_lanes", .additions = column_additions()}, gradient);

}  // namespace
}  // namespace tally
