// RMS norm over the features of a row: rstd, (rms_norm.1), then x rstd (offset + w), (rms_norm.2), rounded as
// kernels/arithmetic.md says; store S. `cast_first` stores x rstd in S, too.
//
//   x, y [rows, features] S   w [features] S, or none   rstd [rows] fp32
//
// Up to 32 features one thread a row, elements added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/launch_rows.hpp"
#include "kernels/reduction/row_sum.hpp"
#include "kernels/rms_norm/casting.hpp"

namespace tally::forward_kernel {
namespace {

template <class S, Casting casting, int lanes>
__global__ void by_root_mean_square(const S* x, const S* weight, float* rstd, S* y, std::int64_t rows,
                                    std::int64_t features, float inverse_features, float eps, float offset) {
  const RowPlace place = row_place();
  for (std::int64_t row = place.row; row < rows; row += place.row_stride) {
    const S* row_x = x + row * features;
    float sum = 0.0f;
    for (std::int64_t j = place.lane; j < features; j += lanes)
      sum = __fadd_rn(sum, __fmul_rn(to_float(row_x[j]), to_float(row_x[j])));
    const float mean = __fmul_rn(row_total<lanes>(sum), inverse_features);
    const float scale = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(mean, eps)));
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const float h = on_the_way<S, casting>(__fmul_rn(to_float(row_x[j]), scale));
      const float value = weight != nullptr ? __fmul_rn(h, __fadd_rn(offset, to_float(weight[j]))) : h;
      y[row * features + j] = from_float<S>(value);
    }
    if (place.lane == 0) rstd[row] = scale;
  }
}

template <Casting casting>
void forward(Stream& stream, const NormForwardArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_row_lanes(a.features, [&]<int lanes>() {
      launch_rows<lanes, by_root_mean_square<S, casting, lanes>>(
          stream, a.rows, static_cast<const S*>(a.x), static_cast<const S*>(a.weight), a.rstd, static_cast<S*>(a.y),
          a.rows, a.features, a.inverse_features, a.eps, a.offset);
    });
  });
}

const RegisterKernel registered(
    "rms_norm.forward",
    {.variant = "row_lanes", .algorithm = "cast_last", .additions = row_additions(), .as_written = true},
    forward<Casting::last>);
const RegisterKernel registered_cast_first(
    "rms_norm.forward", {.variant = "cast_first", .algorithm = "cast_first", .additions = row_additions()},
    forward<Casting::first>, KernelUse::when_named);

}  // namespace
}  // namespace tally::forward_kernel
