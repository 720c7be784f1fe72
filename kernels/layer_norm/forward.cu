// Layer norm over the features of a row, statistics in two passes: mean = fl(sum x * fl(1/n)), var = fl(sum fl(d d) *
// fl(1/n)) with d = fl(x - mean), rstd = fl(1 / fl(sqrt(fl(var + eps)))); y = fl(fl(fl(d * rstd) * w) + b); store S.
//
//   x, y       [rows, features] S
//   w, b       [features]       S, or none
//   mean, rstd [rows]           fp32
//
// Up to 32 features one thread a row, elements added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/launch_rows.hpp"
#include "kernels/reduction/row_sum.hpp"

namespace tally {
namespace {

template <class S, int lanes>
__global__ void two_pass(const S* x, const S* weight, const S* bias, float* mean, float* rstd, S* y, std::int64_t rows,
                         std::int64_t features, float inverse_features, float eps) {
  const RowPlace place = row_place();
  for (std::int64_t row = place.row; row < rows; row += place.row_stride) {
    const S* row_x = x + row * features;
    float sum = 0.0f;
    for (std::int64_t j = place.lane; j < features; j += lanes) sum = __fadd_rn(sum, to_float(row_x[j]));
    const float centre = __fmul_rn(row_total<lanes>(sum), inverse_features);
    sum = 0.0f;
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const float d = __fsub_rn(to_float(row_x[j]), centre);
      sum = __fadd_rn(sum, __fmul_rn(d, d));
    }
    const float variance = __fmul_rn(row_total<lanes>(sum), inverse_features);
    const float scale = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(variance, eps)));
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      float value = __fmul_rn(__fsub_rn(to_float(row_x[j]), centre), scale);
      if (weight != nullptr) value = __fadd_rn(__fmul_rn(value, to_float(weight[j])), to_float(bias[j]));
      y[row * features + j] = from_float<S>(value);
    }
    if (place.lane == 0) {
      mean[row] = centre;
      rstd[row] = scale;
    }
  }
}

void forward(Stream& stream, const NormForwardArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_row_lanes(a.features, [&]<int lanes>() {
      launch_rows<lanes, two_pass<S, lanes>>(
          stream, a.rows, static_cast<const S*>(a.x), static_cast<const S*>(a.weight), static_cast<const S*>(a.bias),
          a.mean, a.rstd, static_cast<S*>(a.y), a.rows, a.features, a.inverse_features, a.eps);
    });
  });
}

const RegisterKernel registered("layer_norm.forward", {.variant = "two_pass", .algorithm = "two_pass"}, forward);

}  // namespace
}  // namespace tally
