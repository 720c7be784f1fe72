// The sum of two tensors, element by element: out = fl(a + b), store S. A sum of more tensors takes a call for each
// further one, so that every sum is stored. (add.1) of the layer, (add.3) of a gradient.
//
//   a, b, out [elements] S; out may be a or b
//
// One thread an element, grid-stride.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

namespace tally::add_kernel {
namespace {

template <class S>
__global__ void add_elements(const S* a, const S* b, S* out, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    out[i] = from_float<S>(__fadd_rn(to_float(a[i]), to_float(b[i])));
  }
}

void add(Stream& stream, const AddArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<add_elements<S>>(stream, a.elements, static_cast<const S*>(a.a), static_cast<const S*>(a.b),
                                     static_cast<S*>(a.out), a.elements);
  });
}

const RegisterKernel registered_forward("add.forward", {.variant = "in_order", .as_written = true}, add);
const RegisterKernel registered_gradient("gradient.add", {.variant = "in_reverse", .as_written = true}, add);

}  // namespace
}  // namespace tally::add_kernel
