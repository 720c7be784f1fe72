// SGD: the momentum buffer b, if there is one, (sgd.1), the direction, which may be Nesterov's, (sgd.2), and the
// parameter along it, (sgd.3), rounded as kernels/arithmetic.md says.
//
//   gradient [elements] fp32   parameter, momentum [elements] M, in place; the step reads b as stored
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::sgd_kernel {
namespace {

template <class M>
struct Momentum {
  M* buffer;
  float mu, one_minus_dampening;
  bool nesterov, first;

  __device__ float direction(float gradient, std::int64_t i) const {
    const float sum =
        first ? gradient : __fadd_rn(__fmul_rn(mu, to_float(buffer[i])), __fmul_rn(one_minus_dampening, gradient));
    buffer[i] = from_float<M>(sum);
    const float moved = to_float(buffer[i]);
    return nesterov ? __fadd_rn(gradient, __fmul_rn(mu, moved)) : moved;
  }
};

template <class M>
__global__ void step(const float* gradient, M* parameter, Momentum<M> momentum, std::int64_t elements, float rate) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const float direction = momentum.buffer != nullptr ? momentum.direction(gradient[i], i) : gradient[i];
    parameter[i] = from_float<M>(__fsub_rn(to_float(parameter[i]), __fmul_rn(rate, direction)));
  }
}

void sgd(Stream& stream, const SgdArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    const Momentum<M> momentum{static_cast<M*>(a.momentum), a.mu, a.one_minus_dampening, a.nesterov, a.first};
    launch_elements<step<M>>(stream, a.elements, a.gradient, static_cast<M*>(a.parameter), momentum, a.elements,
                             a.rate);
  });
}

const RegisterKernel registered("sgd", {.variant = "grid_stride", .as_written = true}, sgd);

}  // namespace
}  // namespace tally::sgd_kernel
