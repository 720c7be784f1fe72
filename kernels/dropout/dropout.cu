// Dropout, (dropout.1) and (dropout.2) alike: out = mask ? fl(x * factor) : 0, store S. A dropped element is 0 whatever
// it held.
//
//   x, out [elements] S   mask [elements] u8
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

namespace tally::dropout_kernel {
namespace {

template <class S>
__global__ void drop(const S* x, const std::uint8_t* mask, S* out, std::int64_t elements, float factor) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    out[i] = from_float<S>(mask[i] != 0 ? __fmul_rn(to_float(x[i]), factor) : 0.0f);
  }
}

void dropout(Stream& stream, const DropoutArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<drop<S>>(stream, a.elements, static_cast<const S*>(a.x), a.mask, static_cast<S*>(a.out), a.elements,
                             a.factor);
  });
}

const RegisterKernel registered_forward("dropout.forward", {.variant = "grid_stride", .as_written = true}, dropout);
const RegisterKernel registered_backward("dropout.backward", {.variant = "grid_stride", .as_written = true}, dropout);

}  // namespace
}  // namespace tally::dropout_kernel
