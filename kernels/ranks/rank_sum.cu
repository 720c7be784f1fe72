// What ranks do to numbers that travel: cast and scaled on the way, added where they arrive.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

// out = store A of fl(in * factor): a number as it travels between ranks, and a sum divided behind them. With factor 1 the
// cast alone.
//
//   in [elements] S or A   out [elements] A   factor fp32
//
// One thread an element, grid-stride. The product is rounded to fp32, then to the format.
namespace tally::rank_scale_kernel {
namespace {

template <class S, class A>
__global__ void scale_and_store(const S* in, A* out, float factor, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride())
    out[i] = from_float<A>(__fmul_rn(to_float(in[i]), factor));
}

void rank_scale(Stream& stream, const RankScaleArguments& a) {
  by_storages(a.from, a.format, [&]<class S, class A>(S, A) {
    launch_elements<scale_and_store<S, A>>(stream, a.elements, static_cast<const S*>(a.in), static_cast<A*>(a.out),
                                           a.factor, a.elements);
  });
}

const RegisterKernel registered("rank_scale", {.variant = "stored"}, rank_scale, KernelUse::when_named);

}  // namespace
}  // namespace tally::rank_scale_kernel

// sum = fl(sum + addend), both as they travel between ranks: rounded to fp32, then to the format. The second rounding
// changes nothing, as fp32 has twice the digits of either 16-bit format and two more: the bits are those of one rounding.
//
//   sum, addend [elements] A; sum in place
//
// One thread an element, grid-stride.
namespace tally::rank_sum_kernel {
namespace {

template <class A>
__global__ void add_in_format(A* sum, const A* addend, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride())
    sum[i] = from_float<A>(__fadd_rn(to_float(sum[i]), to_float(addend[i])));
}

void rank_sum(Stream& stream, const RankSumArguments& a) {
  by_storage(a.format, [&]<class A>(A) {
    launch_elements<add_in_format<A>>(stream, a.elements, static_cast<A*>(a.sum), static_cast<const A*>(a.addend),
                                      a.elements);
  });
}

const RegisterKernel registered("rank_sum", {.variant = "in_format"}, rank_sum, KernelUse::when_named);

}  // namespace
}  // namespace tally::rank_sum_kernel
