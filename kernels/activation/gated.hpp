// y = a(g) u, (gated.1), and the gradients of both, (gated.2) and (gated.3), from g and u, rounded as
// kernels/arithmetic.md says; store S. `fused` keeps what lies between the activation and the product in fp32,
// `two_step` stores it in S, as two modules one behind the other do.
//
//   gate, up, dy, y, dgate, dup [elements] S
//
// An activation is a struct of a(g), `forward`, and a'(g) times a gradient, `backward`. One thread an element,
// grid-stride. No sums.
#pragma once

#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

namespace tally {
inline namespace TALLY_SIDE {

template <class S, bool stores, class Activation>
__global__ void gate_forward(const S* gate, const S* up, S* y, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride())
    y[i] = from_float<S>(__fmul_rn(stored<S, stores>(Activation::forward(to_float(gate[i]))), to_float(up[i])));
}

template <class S, bool stores, class Activation>
__global__ void gate_backward(const S* gate, const S* up, const S* dy, S* dgate, S* dup, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const float g = to_float(gate[i]), gradient = to_float(dy[i]);
    const float opened = stored<S, stores>(__fmul_rn(gradient, to_float(up[i])));
    dgate[i] = from_float<S>(Activation::backward(g, opened));
    dup[i] = from_float<S>(__fmul_rn(gradient, stored<S, stores>(Activation::forward(g))));
  }
}

template <bool stores, class Activation>
void launch_gate_forward(Stream& stream, const GatedArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<gate_forward<S, stores, Activation>>(stream, a.elements, static_cast<const S*>(a.gate),
                                                         static_cast<const S*>(a.up), static_cast<S*>(a.y), a.elements);
  });
}

template <bool stores, class Activation>
void launch_gate_backward(Stream& stream, const GatedArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<gate_backward<S, stores, Activation>>(stream, a.elements, static_cast<const S*>(a.gate),
                                                          static_cast<const S*>(a.up), static_cast<const S*>(a.dy),
                                                          static_cast<S*>(a.dgate), static_cast<S*>(a.dup), a.elements);
  });
}

inline KernelClaim gated_claim(const char* variant) {
  return {.variant = variant, .algorithm = variant, .function_ulp = detmath_ulp};
}

}  // namespace TALLY_SIDE
}  // namespace tally
