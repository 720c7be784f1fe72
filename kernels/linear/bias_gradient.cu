// db = column sums of dy in fp32, store S: the bias gradient of a linear layer, (linear.4).
//
//   dy [rows, features] S
//   db [features]       S
//
// A block covers 32 columns. Up to 63 rows: one thread a column, rows added in order. From 64 rows: 8 threads a
// column, thread l adding rows l, l + 8, ... in order, then a tree of three levels.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/column_sum.hpp"
#include "kernels/reduction/launch_columns.hpp"

namespace tally::bias_gradient_kernel {
namespace {

template <class S, int lanes>
__global__ void sum_columns(const S* dy, S* db, std::int64_t rows, std::int64_t features) {
  TALLY_SHARED(float, partial, lanes, column_tile);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + threadIdx.x;
  float sum = 0.0f;
  if (column < features) {
    for (std::int64_t row = threadIdx.y; row < rows; row += lanes) {
      sum = __fadd_rn(sum, to_float(dy[row * features + column]));
    }
  }
  sum = column_total<lanes>(sum, partial);
  if (column < features && threadIdx.y == 0) db[column] = from_float<S>(sum);
}

void bias_gradient(Stream& stream, const BiasGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_column_lanes(a.rows, [&]<int lanes>() {
      launch_columns<lanes, sum_columns<S, lanes>>(stream, a.features, static_cast<const S*>(a.dy),
                                                   static_cast<S*>(a.db), a.rows, a.features);
    });
  });
}

const RegisterKernel registered(
    "linear.bias_gradient", {.variant = "column_lanes", .algorithm = "column_lanes", .additions = column_additions()},
    bias_gradient);

}  // namespace
}  // namespace tally::bias_gradient_kernel
