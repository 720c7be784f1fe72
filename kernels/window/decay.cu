// Weight decay. l2: gradient = fl(gradient + fl(lambda * parameter)), (l2.1). decoupled: parameter = fl(parameter *
// factor), (decoupled.1) with factor = fl(1 - lr lambda).
//
//   gradient [elements] fp32, parameter [elements] M; the one that changes in place
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::decay_kernel {
namespace {

template <class M>
__global__ void add_to_gradient(float* gradient, const M* parameter, std::int64_t elements, float lambda) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    gradient[i] = __fadd_rn(gradient[i], __fmul_rn(lambda, to_float(parameter[i])));
  }
}

template <class M>
__global__ void shrink(M* parameter, std::int64_t elements, float factor) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    parameter[i] = from_float<M>(__fmul_rn(to_float(parameter[i]), factor));
  }
}

void l2(Stream& stream, const DecayArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    launch_elements<add_to_gradient<M>>(stream, a.elements, a.gradient, static_cast<const M*>(a.parameter), a.elements,
                                        a.lambda);
  });
}

void decoupled(Stream& stream, const DecayArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    launch_elements<shrink<M>>(stream, a.elements, static_cast<M*>(a.parameter), a.elements, a.factor);
  });
}

const RegisterKernel registered_l2("decay.l2", {.variant = "grid_stride", .as_written = true}, l2);
const RegisterKernel registered_decoupled("decay.decoupled", {.variant = "grid_stride", .as_written = true}, decoupled);

}  // namespace
}  // namespace tally::decay_kernel
