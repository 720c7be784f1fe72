// db = column sums of dy in fp32, store S: the bias gradient of a linear layer, (linear.4), in two deterministic
// stages.
//
//   dy [rows, features] S   partial [chunks, features] fp32   db [features] S
//
// First stage: one thread a column and chunk of 16 rows, rows added in order. Second stage: one thread a column, chunks
// added in order. The order depends on the sizes alone.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/linear/column_chunks.hpp"

namespace tally::bias_gradient_two_stage_kernel {
namespace {

template <class S>
__global__ void sum_chunks(const S* dy, float* partial, std::int64_t rows, std::int64_t features) {
  const ColumnChunk mine = column_chunk(rows);
  if (mine.column < features) {
    partial[static_cast<std::int64_t>(blockIdx.x) * features + mine.column] = chunk_sum(dy, mine, features);
  }
}

template <class S>
__global__ void sum_partials(const float* partial, S* db, std::int64_t chunks, std::int64_t features) {
  for (std::int64_t column = first_element(); column < features; column += element_stride()) {
    float sum = 0.0f;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum = __fadd_rn(sum, partial[chunk * features + column]);
    db[column] = from_float<S>(sum);
  }
}

void bias_gradient(Stream& stream, const BiasGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_column_chunks<sum_chunks<S>>(stream, a, static_cast<const S*>(a.dy), a.partial, a.rows, a.features);
    launch_elements<sum_partials<S>>(stream, a.features, a.partial, static_cast<S*>(a.db), bias_gradient_chunks(a.rows),
                                     a.features);
  });
}

const RegisterKernel registered("linear.bias_gradient", {.variant = "two_stage", .additions = chunk_additions()},
                                bias_gradient, KernelUse::when_named);

}  // namespace
}  // namespace tally::bias_gradient_two_stage_kernel
