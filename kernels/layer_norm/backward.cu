// dx of layer norm: rstd (g - mean of g - h mean of g h) with g = dy w, (layer_norm.5), rounded as
// kernels/arithmetic.md says; store S.
//
//   x, dy, dx  [rows, features] S
//   mean, rstd [rows]           fp32
//   w          [features]       S, or none (1)
//
// Up to 32 features one thread a row, elements added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/launch_rows.hpp"
#include "kernels/reduction/row_sum.hpp"

namespace tally::backward_kernel {
namespace {

template <class S>
__device__ float weighted(const S* dy, const S* weight, std::int64_t i, std::int64_t column) {
  return weight != nullptr ? __fmul_rn(to_float(dy[i]), to_float(weight[column])) : to_float(dy[i]);
}

template <class S, int lanes>
__global__ void through_statistics(const S* x, const S* dy, const S* weight, const float* mean, const float* rstd,
                                   S* dx, std::int64_t rows, std::int64_t features, float inverse_features) {
  const RowPlace place = row_place();
  for (std::int64_t row = place.row; row < rows; row += place.row_stride) {
    const std::int64_t start = row * features;
    float sum = 0.0f, product_sum = 0.0f;
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const float g = weighted(dy, weight, start + j, j);
      const float h = __fmul_rn(__fsub_rn(to_float(x[start + j]), mean[row]), rstd[row]);
      sum = __fadd_rn(sum, g);
      product_sum = __fadd_rn(product_sum, __fmul_rn(g, h));
    }
    const float m1 = __fmul_rn(row_total<lanes>(sum), inverse_features);
    const float m2 = __fmul_rn(row_total<lanes>(product_sum), inverse_features);
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const float g = weighted(dy, weight, start + j, j);
      const float h = __fmul_rn(__fsub_rn(to_float(x[start + j]), mean[row]), rstd[row]);
      dx[start + j] = from_float<S>(__fmul_rn(rstd[row], __fsub_rn(__fsub_rn(g, m1), __fmul_rn(h, m2))));
    }
  }
}

void backward(Stream& stream, const NormBackwardArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_row_lanes(a.features, [&]<int lanes>() {
      launch_rows<lanes, through_statistics<S, lanes>>(
          stream, a.rows, static_cast<const S*>(a.x), static_cast<const S*>(a.dy), static_cast<const S*>(a.weight),
          a.mean, a.rstd, static_cast<S*>(a.dx), a.rows, a.features, a.inverse_count);
    });
  });
}

const RegisterKernel registered("layer_norm.backward", {.variant = "row_lanes", .additions = row_additions()},
                                backward);

}  // namespace
}  // namespace tally::backward_kernel
