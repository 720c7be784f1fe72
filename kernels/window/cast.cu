// copy = store S of the master value: the parameters as the kernels see them.
//
//   master [elements] M   copy [elements] S
//
// One thread an element, grid-stride. One rounding (none where S holds every number of M).
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::cast_kernel {
namespace {

template <class S, class M>
__global__ void convert(const M* master, S* copy, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    copy[i] = from_float<S>(to_float(master[i]));
  }
}

void cast(Stream& stream, const CastArguments& a) {
  by_storages(a.storage, a.format, [&]<class S, class M>(S, M) {
    launch_elements<convert<S, M>>(stream, a.elements, static_cast<const M*>(a.master), static_cast<S*>(a.copy),
                                   a.elements);
  });
}

const RegisterKernel registered("cast", {.variant = "grid_stride"}, cast);

}  // namespace
}  // namespace tally::cast_kernel
