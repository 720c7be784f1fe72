// dw = sum dy h over rows, (rms_norm.4), rounded as kernels/arithmetic.md says; store S. `cast_first` stores h and
// dy h in S.
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
#include "kernels/rms_norm/casting.hpp"

namespace tally::weight_gradient_kernel {
namespace {

template <class S, Casting casting, int lanes>
__global__ void sum_columns(const S* x, const S* dy, const float* rstd, S* dw, std::int64_t rows,
                            std::int64_t features) {
  TALLY_SHARED(float, partial, lanes, column_tile);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + threadIdx.x;
  float sum = 0.0f;
  if (column < features) {
    for (std::int64_t row = threadIdx.y; row < rows; row += lanes) {
      const std::int64_t i = row * features + column;
      const float h = on_the_way<S, casting>(__fmul_rn(to_float(x[i]), rstd[row]));
      sum = __fadd_rn(sum, on_the_way<S, casting>(__fmul_rn(to_float(dy[i]), h)));
    }
  }
  sum = column_total<lanes>(sum, partial);
  if (column < features && threadIdx.y == 0) dw[column] = from_float<S>(sum);
}

template <Casting casting>
void gradient(Stream& stream, const NormGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_column_lanes(a.rows, [&]<int lanes>() {
      launch_columns<lanes, sum_columns<S, casting, lanes>>(stream, a.features, static_cast<const S*>(a.x),
                                                            static_cast<const S*>(a.dy), a.rstd, static_cast<S*>(a.dw),
                                                            a.rows, a.features);
    });
  });
}

const RegisterKernel registered("rms_norm.weight_gradient",
                                {.variant = "column_lanes", .algorithm = "cast_last", .additions = column_additions()},
                                gradient<Casting::last>);
const RegisterKernel registered_cast_first(
    "rms_norm.weight_gradient", {.variant = "cast_first", .algorithm = "cast_first", .additions = column_additions()},
    gradient<Casting::first>, KernelUse::when_named);

}  // namespace
}  // namespace tally::weight_gradient_kernel
