// y = g s(g) u with s(g) = 1 / (1 + exp(-g)), (gated.1), and the gradients of both, (gated.2) and (gated.3), from g and
// u, rounded as kernels/arithmetic.md says; store S. `fused` keeps what lies between the activation and the product in
// fp32, `two_step` stores it in S, as two modules one behind the other do.
//
//   gate, up, dy, y, dgate, dup [elements] S
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/gated/gated_arguments.hpp"
#include "kernels/stored.hpp"

namespace tally {
namespace {

__device__ float logistic(float x) { return __fdiv_rn(1.0f, __fadd_rn(1.0f, det_exp(-x))); }
__device__ float silu(float g) { return __fmul_rn(g, logistic(g)); }
__device__ float through_silu(float g, float gradient) {
  const float s = logistic(g);
  return __fmul_rn(gradient, __fmul_rn(s, __fadd_rn(1.0f, __fmul_rn(g, __fsub_rn(1.0f, s)))));
}

template <class S, bool stores>
__global__ void multiply(const S* gate, const S* up, S* y, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride())
    y[i] = from_float<S>(__fmul_rn(stored<S, stores>(silu(to_float(gate[i]))), to_float(up[i])));
}

template <class S, bool stores>
__global__ void back_through(const S* gate, const S* up, const S* dy, S* dgate, S* dup, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const float g = to_float(gate[i]), gradient = to_float(dy[i]);
    dgate[i] = from_float<S>(through_silu(g, stored<S, stores>(__fmul_rn(gradient, to_float(up[i])))));
    dup[i] = from_float<S>(__fmul_rn(gradient, stored<S, stores>(silu(g))));
  }
}

template <bool stores>
void forward(Stream& stream, const GatedArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<multiply<S, stores>>(stream, a.elements, static_cast<const S*>(a.gate), static_cast<const S*>(a.up),
                                         static_cast<S*>(a.y), a.elements);
  });
}

template <bool stores>
void backward(Stream& stream, const GatedArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<back_through<S, stores>>(stream, a.elements, static_cast<const S*>(a.gate),
                                             static_cast<const S*>(a.up), static_cast<const S*>(a.dy),
                                             static_cast<S*>(a.dgate), static_cast<S*>(a.dup), a.elements);
  });
}

KernelClaim claim(const char* variant) {
  return {.variant = variant, .algorithm = variant, .function_ulp = detmath_ulp};
}

const RegisterKernel registered("gated_silu.forward", claim("fused"), forward<false>);
const RegisterKernel registered_backward("gated_silu.backward", claim("fused"), backward<false>);
const RegisterKernel registered_stored("gated_silu.forward", claim("two_step"), forward<true>, KernelUse::when_named);
const RegisterKernel registered_stored_backward("gated_silu.backward", claim("two_step"), backward<true>,
                                                KernelUse::when_named);

}  // namespace
}  // namespace tally
