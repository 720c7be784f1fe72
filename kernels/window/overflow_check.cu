// found |= 1 where any element is not finite. Exact.
//
//   values [elements] fp32 or S   found [] u32, only ever set
//
// One thread an element, grid-stride; a thread that saw one sets the flag by an integer atomic, so every
// order gives the same result.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::overflow_check_kernel {
namespace {

template <class S>
__global__ void find_non_finite(const S* values, std::uint32_t* found, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    if (!isfinite(to_float(values[i]))) atomicOr(found, 1u);
  }
}

void overflow_check(Stream& stream, const OverflowCheckArguments& a) {
  by_storage(a.format, [&]<class S>(S) {
    launch_elements<find_non_finite<S>>(stream, a.elements, static_cast<const S*>(a.values), a.found, a.elements);
  });
}

const RegisterKernel registered("overflow_check", {.variant = "atomic_or"}, overflow_check);

}  // namespace
}  // namespace tally::overflow_check_kernel
