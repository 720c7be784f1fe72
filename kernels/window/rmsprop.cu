// RMSProp: the mean square v, (rmsprop.1), the quotient g / (sqrt v + eps), (rmsprop.2), with momentum its buffer b,
// (rmsprop.3), and the parameter, (rmsprop.4), rounded as kernels/arithmetic.md says.
//
//   gradient [elements] fp32   parameter, square_avg, momentum_buffer [elements] M, in place; v and b read as stored
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/rmsprop_arguments.hpp"

namespace tally::rmsprop_kernel {
namespace {

template <class M>
__global__ void step(RmspropArguments a) {
  M *parameter = static_cast<M*>(a.parameter), *square = static_cast<M*>(a.square_avg),
    *buffer = static_cast<M*>(a.momentum_buffer);
  for (std::int64_t i = first_element(); i < a.elements; i += element_stride()) {
    const float g = a.gradient[i];
    square[i] = from_float<M>(
        __fadd_rn(__fmul_rn(a.alpha, to_float(square[i])), __fmul_rn(a.one_minus_alpha, __fmul_rn(g, g))));
    float direction = __fdiv_rn(g, __fadd_rn(__fsqrt_rn(to_float(square[i])), a.eps));
    if (buffer != nullptr) {
      buffer[i] = from_float<M>(__fadd_rn(__fmul_rn(a.mu, to_float(buffer[i])), direction));
      direction = to_float(buffer[i]);
    }
    parameter[i] = from_float<M>(__fsub_rn(to_float(parameter[i]), __fmul_rn(a.rate, direction)));
  }
}

void rmsprop(Stream& stream, const RmspropArguments& a) {
  by_storage(a.format, [&]<class M>(M) { launch_elements<step<M>>(stream, a.elements, RmspropArguments(a)); });
}

const RegisterKernel registered("rmsprop", {.variant = "grid_stride", .as_written = true}, rmsprop);

}  // namespace
}  // namespace tally::rmsprop_kernel
