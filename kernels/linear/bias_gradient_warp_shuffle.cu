// db = column sums of dy in fp32, store S: the bias gradient of a linear layer, (linear.4).
//
//   dy [rows, features] S
//   db [features]       S
//
// A warp a column: lane l adds rows l, l + 32, ... in order, then a shuffle tree of five levels. Neighbouring lanes
// read rows apart; no shared memory, no barrier.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/launch_rows.hpp"
#include "kernels/reduction/row_sum.hpp"

namespace tally::bias_gradient_warp_shuffle_kernel {
namespace {

constexpr int lanes = 32;

template <class S>
__global__ void sum_columns(const S* dy, S* db, std::int64_t rows, std::int64_t features) {
  const RowPlace place = row_place();
  for (std::int64_t column = place.row; column < features; column += place.row_stride) {
    float sum = 0.0f;
    for (std::int64_t row = place.lane; row < rows; row += lanes) {
      sum = __fadd_rn(sum, to_float(dy[row * features + column]));
    }
    sum = row_total<lanes>(sum);
    if (place.lane == 0) db[column] = from_float<S>(sum);
  }
}

void bias_gradient(Stream& stream, const BiasGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    take_way({{"fewer rows than a warp", a.rows < lanes}});
    take_stride_ways(a.rows);
    launch_rows<lanes, sum_columns<S>>(stream, a.features, static_cast<const S*>(a.dy), static_cast<S*>(a.db), a.rows,
                                       a.features);
  });
}

const RegisterKernel registered("linear.bias_gradient",
                                {.variant = "warp_shuffle", .additions = {{SumStep::lanes, lanes}, {SumStep::tree}}},
                                bias_gradient, KernelUse::when_named);

}  // namespace
}  // namespace tally::bias_gradient_warp_shuffle_kernel
