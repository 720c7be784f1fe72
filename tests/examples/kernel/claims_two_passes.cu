// The layer norm of layer_norm.cu with its variance in one pass, which cancels, and the same claim: two passes.
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
    float sum = 0.0f, squares = 0.0f;
    for (std::int64_t j = 0; j < features; ++j) {
      const float value = to_float(in[j]);
      sum = __fadd_rn(sum, value);
      squares = __fadd_rn(squares, __fmul_rn(value, value));
    }
    const float centre = __fmul_rn(sum, inverse_features);
    const float difference = __fsub_rn(__fmul_rn(squares, inverse_features), __fmul_rn(centre, centre));
    const float variance = difference < 0.0f ? 0.0f : difference;
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

const RegisterKernel registered("layer_norm.forward", {.variant = "claims_two_passes", .algorithm = "two_pass"},
                                forward, KernelUse::when_named);

}  // namespace
