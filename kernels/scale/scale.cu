// y = f x, (scale.1), and dx = f dy, (scale.2), alike: one product, store S.
//
//   x, out [elements] S
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/scale/scale_arguments.hpp"

namespace tally::scale_kernel {
namespace {

template <class S>
__global__ void multiply(const S* x, S* out, std::int64_t elements, float factor) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride())
    out[i] = from_float<S>(__fmul_rn(to_float(x[i]), factor));
}

void scale(Stream& stream, const ScaleArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<multiply<S>>(stream, a.elements, static_cast<const S*>(a.x), static_cast<S*>(a.out), a.elements,
                                 a.factor);
  });
}

const RegisterKernel registered_forward("scale.forward", {.variant = "grid_stride", .as_written = true}, scale);
const RegisterKernel registered_backward("scale.backward", {.variant = "grid_stride", .as_written = true}, scale);

}  // namespace
}  // namespace tally::scale_kernel
