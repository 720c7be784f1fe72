// dx of RMS norm: rstd (g - h mean of g h) with g = dy (offset + w), (rms_norm.3), rounded as kernels/arithmetic.md
// says; store S. `cast_first` stores g in S.
//
//   x, dy, dx [rows, features] S   rstd [rows] fp32   w [features] S, or none (w' = 1)
//
// Up to 32 features one thread a row, elements added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/launch_rows.hpp"
#include "kernels/reduction/row_sum.hpp"
#include "kernels/rms_norm/casting.hpp"

namespace tally::backward_kernel {
namespace {

template <class S, Casting casting>
__device__ float weighted(const S* dy, const S* weight, std::int64_t i, std::int64_t column, float offset) {
  const float gradient = to_float(dy[i]);
  if (weight == nullptr) return gradient;
  return on_the_way<S, casting>(__fmul_rn(gradient, __fadd_rn(offset, to_float(weight[column]))));
}

template <class S, Casting casting, int lanes>
__global__ void through_the_root(const S* x, const S* dy, const S* weight, const float* rstd, S* dx, std::int64_t rows,
                                 std::int64_t features, float inverse_features, float offset) {
  const RowPlace place = row_place();
  for (std::int64_t row = place.row; row < rows; row += place.row_stride) {
    const std::int64_t start = row * features;
    float sum = 0.0f;
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const float h = __fmul_rn(to_float(x[start + j]), rstd[row]);
      sum = __fadd_rn(sum, __fmul_rn(weighted<S, casting>(dy, weight, start + j, j, offset), h));
    }
    const float m = __fmul_rn(row_total<lanes>(sum), inverse_features);
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const float h = __fmul_rn(to_float(x[start + j]), rstd[row]);
      const float g = weighted<S, casting>(dy, weight, start + j, j, offset);
      dx[start + j] = from_float<S>(__fmul_rn(rstd[row], __fsub_rn(g, __fmul_rn(h, m))));
    }
  }
}

template <Casting casting>
void backward(Stream& stream, const NormBackwardArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_row_lanes(a.features, [&]<int lanes>() {
      launch_rows<lanes, through_the_root<S, casting, lanes>>(
          stream, a.rows, static_cast<const S*>(a.x), static_cast<const S*>(a.dy), static_cast<const S*>(a.weight),
          a.rstd, static_cast<S*>(a.dx), a.rows, a.features, a.inverse_count, a.offset);
    });
  });
}

const RegisterKernel registered("rms_norm.backward",
                                {.variant = "row_lanes", .algorithm = "cast_last", .additions = row_additions()},
                                backward<Casting::last>);
const RegisterKernel registered_cast_first(
    "rms_norm.backward", {.variant = "cast_first", .algorithm = "cast_first", .additions = row_additions()},
    backward<Casting::first>, KernelUse::when_named);

}  // namespace
}  // namespace tally::backward_kernel
