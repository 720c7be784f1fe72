// What activations share: element by element, y = f(x) and dx = f'(x) dy from x, in kernels of one shape.
//
//   x, dy, out [elements] S
//
// One thread an element, grid-stride. No sums. A .cu is a struct with the two formulas and its record:
//
//   const RegisterActivation<InFloat<Tanh>> registered("tanh", {.variant = "grid_stride"});
#pragma once

#include <string>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

namespace tally {
inline namespace TALLY_SIDE {

/// Formulas on fp32: operands are read to it, the result is rounded to S.
template <class Formula>
struct InFloat {
  template <class S>
  __device__ static S forward(S x) {
    return from_float<S>(Formula::forward(to_float(x)));
  }
  template <class S>
  __device__ static S backward(S x, S dy) {
    return from_float<S>(Formula::backward(to_float(x), to_float(dy)));
  }
};

template <class S, class Formula>
__global__ void activation_forward(const S* x, S* y, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) y[i] = Formula::forward(x[i]);
}

template <class S, class Formula>
__global__ void activation_backward(const S* x, const S* dy, S* dx, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) dx[i] = Formula::backward(x[i], dy[i]);
}

template <class Formula>
void launch_activation_forward(Stream& stream, const ActivationArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<activation_forward<S, Formula>>(stream, a.elements, static_cast<const S*>(a.x),
                                                    static_cast<S*>(a.out), a.elements);
  });
}

template <class Formula>
void launch_activation_backward(Stream& stream, const ActivationArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<activation_backward<S, Formula>>(stream, a.elements, static_cast<const S*>(a.x),
                                                     static_cast<const S*>(a.dy), static_cast<S*>(a.out), a.elements);
  });
}

/// Both kernels of an activation, `family.forward` and `family.backward`; the claim is of both.
template <class Formula>
struct RegisterActivation {
  RegisterActivation(const std::string& family, const KernelClaim& claim,
                     std::source_location at = std::source_location::current()) {
    const RegisterKernel forward(family + ".forward", claim, launch_activation_forward<Formula>, KernelUse::standard,
                                 at);
    const RegisterKernel backward(family + ".backward", claim, launch_activation_backward<Formula>, KernelUse::standard,
                                  at);
  }
};

}  // namespace TALLY_SIDE
}  // namespace tally
