// (descent.1) as fl(p - fl(lr g)), store M. One thread an element, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/descent_arguments.hpp"

namespace tally::descent_kernel {
namespace {

template <class M>
__global__ void step(DescentArguments a) {
  M* parameter = static_cast<M*>(a.parameter);
  for (std::int64_t i = first_element(); i < a.elements; i += element_stride())
    parameter[i] = from_float<M>(__fsub_rn(to_float(parameter[i]), __fmul_rn(a.rate, a.gradient[i])));
}

void descent(Stream& stream, const DescentArguments& a) {
  by_storage(a.format, [&]<class M>(M) { launch_elements<step<M>>(stream, a.elements, DescentArguments(a)); });
}

const RegisterKernel registered("descent", {.variant = "grid_stride", .as_written = true}, descent);

}  // namespace
}  // namespace tally::descent_kernel
