// db = column sums of dy in fp32, store S: the bias gradient of a linear layer, (linear.4), by atomics.
//
//   dy [rows, features] S   partial [features] fp32   db [features] S
//
// One thread a column and chunk of 16 rows adds its rows in order, then the chunk to the column's sum by one atomicAdd:
// chunks in whatever order their blocks end, so two runs may differ in bits, and subnormal sums are flushed.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/linear/column_chunks.hpp"

namespace tally::bias_gradient_atomic_add_kernel {
namespace {

__global__ void clear(float* sums, std::int64_t features) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) sums[i] = 0.0f;
}

template <class S>
__global__ void add_chunks(const S* dy, float* sums, std::int64_t rows, std::int64_t features) {
  const ColumnChunk mine = column_chunk(rows);
  if (mine.column < features) atomicAdd(sums + mine.column, chunk_sum(dy, mine, features));
}

template <class S>
__global__ void store(const float* sums, S* db, std::int64_t features) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) db[i] = from_float<S>(sums[i]);
}

void bias_gradient(Stream& stream, const BiasGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<clear>(stream, a.features, a.partial, a.features);
    launch_column_chunks<add_chunks<S>>(stream, a, static_cast<const S*>(a.dy), a.partial, a.rows, a.features);
    launch_elements<store<S>>(stream, a.features, a.partial, static_cast<S*>(a.db), a.features);
  });
}

const RegisterKernel registered("linear.bias_gradient",
                                {.variant = "atomic_add",
                                 .repeats = Repeats::within_claim,
                                 .global_float_atomics = true,
                                 .additions = chunk_additions()},
                                bias_gradient, KernelUse::when_named);

}  // namespace
}  // namespace tally::bias_gradient_atomic_add_kernel
