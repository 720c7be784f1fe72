// A residual sum and its RMS norm as one, forward and backward.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/norm/norm_rows.hpp"
#include "kernels/reduction/row_sum.hpp"

// A residual sum and its RMS norm as one: r = a + b, (add.1), stored S; then rstd, (rms_norm.1), and r rstd (offset +
// w), (rms_norm.2), of the bits that are stored. It leaves the bits of add.forward and of rms_norm.forward `row_lanes`.
//
//   a, b, r, y [rows, features] S   w [features] S, or none   rstd [rows] fp32
//
// Up to 32 features one thread a row, elements added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
namespace tally::add_norm_forward_kernel {
namespace {

template <class S, int lanes>
__global__ void add_and_normalise(const S* a, const S* b, S* r, const S* weight, float* rstd, S* y, std::int64_t rows,
                                  std::int64_t features, float inverse_features, float eps, float offset) {
  const RowPlace place = row_place();
  for (std::int64_t row = place.row; row < rows; row += place.row_stride) {
    const std::int64_t start = row * features;
    float squares = 0.0f;
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const S stored = from_float<S>(__fadd_rn(to_float(a[start + j]), to_float(b[start + j])));
      r[start + j] = stored;
      squares = __fadd_rn(squares, __fmul_rn(to_float(stored), to_float(stored)));
    }
    const float mean = __fmul_rn(row_total<lanes>(squares), inverse_features);
    const float scale = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(mean, eps)));
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const float h = __fmul_rn(to_float(r[start + j]), scale);
      const float value = weight != nullptr ? __fmul_rn(h, __fadd_rn(offset, to_float(weight[j]))) : h;
      y[start + j] = from_float<S>(value);
    }
    if (place.lane == 0) rstd[row] = scale;
  }
}

void fused(Stream& stream, const AddNormArguments& a) {
  const NormForwardArguments& norm = a.norm;
  by_storage(norm.storage, [&]<class S>(S) {
    by_row_lanes(norm.features, [&]<int lanes>() {
      launch_rows<lanes, add_and_normalise<S, lanes>>(
          stream, norm.rows, static_cast<const S*>(a.a), static_cast<const S*>(a.b), static_cast<S*>(a.sum),
          static_cast<const S*>(norm.weight), norm.rstd, static_cast<S*>(norm.y), norm.rows, norm.features,
          norm.inverse_features, norm.eps, norm.offset);
    });
  });
}

const RegisterKernel registered("add_norm", {.variant = "fused"}, fused, KernelUse::when_named);

}  // namespace
}  // namespace tally::add_norm_forward_kernel

// Back through an RMS norm and the residual sum before it, as one (kernels/norm/norm_rows.hpp). It leaves the
// bits of rms_norm.backward `row_lanes` and of gradient.add.
namespace tally::add_norm_backward_kernel {
namespace {

const RegisterKernel registered("add_norm.backward", {.variant = "fused"}, launch_through_both<ThroughBothAsItShould>,
                                KernelUse::when_named);

}  // namespace
}  // namespace tally::add_norm_backward_kernel
