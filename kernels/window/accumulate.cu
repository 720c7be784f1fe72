// buffer = fl(buffer + gradient): one addition an element and micro-batch, in the order of the micro-batches.
//
//   gradient [elements] S   buffer [elements] A, in place; the sum is rounded to fp32, then to A
//
// One thread an element, grid-stride.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::accumulate_kernel {
namespace {

template <class S, class A>
__global__ void add(const S* gradient, A* buffer, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    buffer[i] = from_float<A>(__fadd_rn(to_float(buffer[i]), to_float(gradient[i])));
  }
}

void accumulate(Stream& stream, const AccumulateArguments& a) {
  by_storages(a.storage, a.format, [&]<class S, class A>(S, A) {
    launch_elements<add<S, A>>(stream, a.elements, static_cast<const S*>(a.gradient), static_cast<A*>(a.buffer),
                               a.elements);
  });
}

const RegisterKernel registered("accumulate", {.variant = "grid_stride"}, accumulate);

}  // namespace
}  // namespace tally::accumulate_kernel
