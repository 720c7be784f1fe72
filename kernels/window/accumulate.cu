// Gradients of micro-batches added up in a buffer, plainly and compensated.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

// buffer = fl(buffer + gradient): one addition an element and micro-batch, in the order of the micro-batches.
//
//   gradient [elements] S   buffer [elements] A, in place; the sum is rounded to fp32, then to A
//
// One thread an element, grid-stride.
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

// A compensated sum: what an addition's rounding lost is taken off the next gradient (Kahan).
//   g' = store A of g;  y = fl(g' - c);  t = fl(s + y);  c = fl(fl(t - s) - y);  s = t;   every fl stores A
//
//   gradient [elements] S   buffer s [elements] A   compensation c [elements] A, both in place, both zero at first
//
// A sum of two A numbers in fp32, then in A, is rounded once: fp32 has more than twice the bits of fp16 and bf16.
// One thread an element, grid-stride.
namespace tally::accumulate_kahan_kernel {
namespace {

template <class A>
__device__ float in_format(float value) {
  return to_float(from_float<A>(value));
}

template <class S, class A>
__global__ void add_compensated(const S* gradient, A* buffer, A* compensation, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const float sum = to_float(buffer[i]), addend = in_format<A>(to_float(gradient[i]));
    const float corrected = in_format<A>(__fsub_rn(addend, to_float(compensation[i])));
    const float next = in_format<A>(__fadd_rn(sum, corrected));
    compensation[i] = from_float<A>(__fsub_rn(in_format<A>(__fsub_rn(next, sum)), corrected));
    buffer[i] = from_float<A>(next);
  }
}

void accumulate(Stream& stream, const AccumulateArguments& a) {
  by_storages(a.storage, a.format, [&]<class S, class A>(S, A) {
    launch_elements<add_compensated<S, A>>(stream, a.elements, static_cast<const S*>(a.gradient),
                                           static_cast<A*>(a.buffer), static_cast<A*>(a.compensation), a.elements);
  });
}

const RegisterKernel registered("accumulate", {.variant = "kahan", .algorithm = "kahan"}, accumulate,
                                KernelUse::when_named);

}  // namespace
}  // namespace tally::accumulate_kahan_kernel
