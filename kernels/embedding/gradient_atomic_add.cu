// The gradient of a table, (embedding.2) and (position_embedding.3), by atomics: sums in fp32, store S.
//
//   dy [rows, width] S   index [rows] i64   sums [table_rows, width] fp32   dW [table_rows, width] S
//
// One thread an element of dy adds it to its sum by one atomicAdd, in whatever order blocks end, so two runs may differ
// in bits, and subnormal sums are flushed.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

namespace tally::gradient_atomic_add_kernel {
namespace {

__global__ void clear_sums(float* sums, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) sums[i] = 0.0f;
}

template <class S>
__global__ void add_elements(const S* dy, const std::int64_t* index, float* sums, std::int64_t elements,
                             std::int64_t width, std::int64_t except) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const std::int64_t at = index[i / width];
    if (at != except) atomicAdd(sums + at * width + i % width, to_float(dy[i]));
  }
}

template <class S>
__global__ void store_sums(const float* sums, S* dtable, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) dtable[i] = from_float<S>(sums[i]);
}

void gradient(Stream& stream, const TableGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<clear_sums>(stream, a.table_rows * a.width, a.sums, a.table_rows * a.width);
    launch_elements<add_elements<S>>(stream, a.rows * a.width, static_cast<const S*>(a.dy), a.index, a.sums,
                                     a.rows * a.width, a.width, a.except);
    launch_elements<store_sums<S>>(stream, a.table_rows * a.width, a.sums, static_cast<S*>(a.dtable),
                                   a.table_rows * a.width);
  });
}

const RegisterKernel registered(
    "embedding.gradient", {.variant = "atomic_add", .repeats = Repeats::within_claim, .global_float_atomics = true},
    gradient, KernelUse::when_named);

}  // namespace
}  // namespace tally::gradient_atomic_add_kernel
