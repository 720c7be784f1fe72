// SGD: b = fl(fl(mu b) + fl((1 - dampening) g)), or g at the first step; d = b, or fl(g + fl(mu b)) with Nesterov, or g
// without momentum; p = fl(p - fl(lr d)).
//
//   gradient, parameter, momentum [elements] fp32; parameter and momentum in place
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally {
namespace {

struct Momentum {
  float* buffer;
  float mu, one_minus_dampening;
  bool nesterov, first;

  __device__ float direction(float gradient, std::int64_t i) const {
    const float moved =
        first ? gradient : __fadd_rn(__fmul_rn(mu, buffer[i]), __fmul_rn(one_minus_dampening, gradient));
    buffer[i] = moved;
    return nesterov ? __fadd_rn(gradient, __fmul_rn(mu, moved)) : moved;
  }
};

__global__ void step(const float* gradient, float* parameter, Momentum momentum, std::int64_t elements, float rate) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const float direction = momentum.buffer != nullptr ? momentum.direction(gradient[i], i) : gradient[i];
    parameter[i] = __fsub_rn(parameter[i], __fmul_rn(rate, direction));
  }
}

void sgd(Stream& stream, const SgdArguments& a) {
  const Momentum momentum{a.momentum, a.mu, a.one_minus_dampening, a.nesterov, a.first};
  launch_elements<step>(stream, a.elements, a.gradient, a.parameter, momentum, a.elements, a.rate);
}

const RegisterKernel registered("sgd", {.variant = "grid_stride"}, sgd);

}  // namespace
}  // namespace tally
