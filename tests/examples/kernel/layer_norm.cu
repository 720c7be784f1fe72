// A layer norm of one's own: one thread a row, its elements added in order; mean, then the variance from that mean.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

using namespace tally;

namespace {

template <class S>
__global__ void normalise(const S* x, const S* weight, const S* bias, float* mean, float* rstd, S* y, std::int64_t rows,
                          std::int64_t features, float inverse_features, float eps) {
  for (std::int64_t row = first_element(); row < rows; row += element_stride()) {
    const S* in = x + row * features;
    float sum = 0.0f;
    for (std::int64_t j = 0; j < features; ++j) sum = __fadd_rn(sum, to_float(in[j]));
    const float centre = __fmul_rn(sum, inverse_features);
    float squares = 0.0f;
    for (std::int64_t j = 0; j < features; ++j) {
      const float d = __fsub_rn(to_float(in[j]), centre);
      squares = __fadd_rn(squares, __fmul_rn(d, d));
    }
    const float variance = __fmul_rn(squares, inverse_features);
    const float scale = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(variance, eps)));
    for (std::int64_t j = 0; j < features; ++j) {
      float value = __fmul_rn(__fsub_rn(to_float(in[j]), centre), scale);
      if (weight != nullptr) value = __fadd_rn(__fmul_rn(value, to_float(weight[j])), to_float(bias[j]));
      y[row * features + j] = from_float<S>(value);
    }
    mean[row] = centre;
    rstd[row] = scale;
  }
}

void forward(Stream& stream, const NormForwardArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<normalise<S>>(stream, a.rows, static_cast<const S*>(a.x), static_cast<const S*>(a.weight),
                                  static_cast<const S*>(a.bias), a.mean, a.rstd, static_cast<S*>(a.y), a.rows,
                                  a.features, a.inverse_features, a.eps);
  });
}

// The claim is all that the bounds know of the kernel: statistics in two passes, sums in order.
const RegisterKernel registered("layer_norm.forward", {.variant = "mine", .algorithm = "two_pass"}, forward,
                                KernelUse::when_named);

}  // namespace
