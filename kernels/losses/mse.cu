// Mean squared error, loss and gradient at once: the weighed mean of (y - t)^2, (mse.1), and 2/F of c weight (y - t),
// (mse.2), rounded as kernels/arithmetic.md says; store S.
//
//   y, target, dy [rows, features] S
//   item_weight   [rows]           i64, or none (1)
//   loss          [rows]           fp32
//
// Up to 32 features one thread a row, elements added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/row_sum.hpp"

namespace tally::mse_kernel {
namespace {

template <class S, int lanes>
__global__ void squared_error(const S* y, const S* target, const std::int64_t* item_weight, float* loss, S* dy,
                              std::int64_t rows, std::int64_t features, float factor, float inverse_features,
                              float two_over_features) {
  const RowPlace place = row_place();
  for (std::int64_t row = place.row; row < rows; row += place.row_stride) {
    const float weight = item_weight != nullptr ? static_cast<float>(item_weight[row]) : 1.0f;
    const float row_factor = __fmul_rn(factor, weight);
    float sum = 0.0f;
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const std::int64_t i = row * features + j;
      const float d = __fsub_rn(to_float(y[i]), to_float(target[i]));
      sum = __fadd_rn(sum, __fmul_rn(d, d));
      dy[i] = from_float<S>(__fmul_rn(row_factor, __fmul_rn(d, two_over_features)));
    }
    sum = row_total<lanes>(sum);
    if (place.lane == 0) loss[row] = __fmul_rn(__fmul_rn(sum, inverse_features), weight);
  }
}

void mse(Stream& stream, const MseArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_row_lanes(a.features, [&]<int lanes>() {
      launch_rows<lanes, squared_error<S, lanes>>(
          stream, a.rows, static_cast<const S*>(a.y), static_cast<const S*>(a.target), a.item_weight, a.loss,
          static_cast<S*>(a.dy), a.rows, a.features, a.factor, a.inverse_features, a.two_over_features);
    });
  });
}

const RegisterKernel registered("mse", {.variant = "row_lanes", .additions = row_additions(), .as_written = true}, mse);

}  // namespace
}  // namespace tally::mse_kernel
