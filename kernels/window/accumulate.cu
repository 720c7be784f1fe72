// buffer = fl(buffer + gradient): one addition an element and micro-batch, in the order of the micro-batches.
//
//   gradient [elements] S   buffer [elements] fp32, in place
//
// One thread an element, grid-stride.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally {
namespace {

template <class S>
__global__ void add(const S* gradient, float* buffer, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    buffer[i] = __fadd_rn(buffer[i], to_float(gradient[i]));
  }
}

void accumulate(Stream& stream, const AccumulateArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<add<S>>(stream, a.elements, static_cast<const S*>(a.gradient), a.buffer, a.elements);
  });
}

const RegisterKernel registered("accumulate", {.variant = "grid_stride"}, accumulate);

}  // namespace
}  // namespace tally
