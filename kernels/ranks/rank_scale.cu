// out = store A of fl(in * factor): a number as it travels between ranks, and a sum divided behind them. With factor 1 the
// cast alone.
//
//   in [elements] S or A   out [elements] A   factor fp32
//
// One thread an element, grid-stride. The product is rounded to fp32, then to the format.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/ranks/arguments.hpp"

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
