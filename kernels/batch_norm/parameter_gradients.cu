// dw = sum dy h and db = sum dy over rows, (batch_norm.6): the parameter gradients of batch norm (store S), and the
// same sums in fp32 where its dx needs them. h and dy h are rounded as kernels/arithmetic.md says.
//
//   x, dy          [rows, features] S
//   mean, rstd     [features]       fp32
//   dw, db         [features]       S, or none
//   dw_sum, db_sum [features]       fp32, or none
//
// A block covers 32 columns; both sums run as kernels/reduction/column_sum.hpp says: one thread a column up to 63 rows,
// 8 from 64 on.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/column_sum.hpp"
#include "kernels/reduction/launch_columns.hpp"

namespace tally::parameter_gradients_kernel {
namespace {

template <class S, int lanes>
__global__ void sum_columns(const S* x, const S* dy, const float* mean, const float* rstd, S* dw, S* db, float* dw_sum,
                            float* db_sum, std::int64_t rows, std::int64_t features) {
  TALLY_SHARED(float, partial, lanes, column_tile);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + threadIdx.x;
  float weight_sum = 0.0f, bias_sum = 0.0f;
  if (column < features) {
    for (std::int64_t row = threadIdx.y; row < rows; row += lanes) {
      const std::int64_t i = row * features + column;
      const float h = __fmul_rn(__fsub_rn(to_float(x[i]), mean[column]), rstd[column]);
      weight_sum = __fadd_rn(weight_sum, __fmul_rn(to_float(dy[i]), h));
      bias_sum = __fadd_rn(bias_sum, to_float(dy[i]));
    }
  }
  weight_sum = column_total<lanes>(weight_sum, partial);
  bias_sum = column_total<lanes>(bias_sum, partial);
  if (column < features && threadIdx.y == 0) {
    if (dw != nullptr) dw[column] = from_float<S>(weight_sum);
    if (db != nullptr) db[column] = from_float<S>(bias_sum);
    if (dw_sum != nullptr) dw_sum[column] = weight_sum;
    if (db_sum != nullptr) db_sum[column] = bias_sum;
  }
}

void gradient(Stream& stream, const NormGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_column_lanes(a.rows, [&]<int lanes>() {
      launch_columns<lanes, sum_columns<S, lanes>>(stream, a.features, static_cast<const S*>(a.x),
                                                   static_cast<const S*>(a.dy), a.mean, a.rstd, static_cast<S*>(a.dw),
                                                   static_cast<S*>(a.db), a.dw_sum, a.db_sum, a.rows, a.features);
    });
  });
}

const RegisterKernel registered("batch_norm.parameter_gradients",
                                {.variant = "column_lanes", .additions = column_additions()}, gradient);

}  // namespace
}  // namespace tally::parameter_gradients_kernel
