// copy = store S of the master value: the parameters as the kernels see them.
//
//   master [elements] fp32   copy [elements] S
//
// One thread an element, grid-stride. One rounding (none for fp32).
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally {
namespace {

template <class S>
__global__ void convert(const float* master, S* copy, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    copy[i] = from_float<S>(master[i]);
  }
}

void cast(Stream& stream, const CastArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<convert<S>>(stream, a.elements, a.master, static_cast<S*>(a.copy), a.elements);
  });
}

const RegisterKernel registered("cast", {.variant = "grid_stride"}, cast);

}  // namespace
}  // namespace tally
