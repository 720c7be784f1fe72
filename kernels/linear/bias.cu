// A linear layer's bias: added to the product, and its gradient, sums over rows in four orders.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/linear/column_chunks.hpp"
#include "kernels/reduction/column_sum.hpp"
#include "kernels/reduction/row_sum.hpp"

// z += bias, the second half of a linear layer's forward, (linear.1): fl(z + b), store S.
//
//   z    [rows, features] S   in place
//   bias [features]       S
//
// One thread an element, grid-stride. No sums: the claim is one rounding in fp32 and one into S.
namespace tally::bias_add_kernel {
namespace {

template <class S>
__global__ void add_bias(S* z, const S* bias, std::int64_t elements, std::int64_t features) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    z[i] = from_float<S>(__fadd_rn(to_float(z[i]), to_float(bias[i % features])));
  }
}

void bias_add(Stream& stream, const BiasAddArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    const std::int64_t elements = a.rows * a.features;
    launch_elements<add_bias<S>>(stream, elements, static_cast<S*>(a.z), static_cast<const S*>(a.bias), elements,
                                 a.features);
  });
}

const RegisterKernel registered("linear.bias_add", {.variant = "grid_stride"}, bias_add);

}  // namespace
}  // namespace tally::bias_add_kernel

// db = column sums of dy in fp32, store S: the bias gradient of a linear layer, (linear.4).
//
//   dy [rows, features] S
//   db [features]       S
//
// A block covers 32 columns. Up to 63 rows: one thread a column, rows added in order. From 64 rows: 8 threads a
// column, thread l adding rows l, l + 8, ... in order, then a tree of three levels.
namespace tally::bias_gradient_kernel {
namespace {

template <class S, int lanes>
__global__ void sum_columns(const S* dy, S* db, std::int64_t rows, std::int64_t features) {
  TALLY_SHARED(float, partial, lanes, column_tile);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + threadIdx.x;
  float sum = 0.0f;
  if (column < features) {
    for (std::int64_t row = threadIdx.y; row < rows; row += lanes) {
      sum = __fadd_rn(sum, to_float(dy[row * features + column]));
    }
  }
  sum = column_total<lanes>(sum, partial);
  if (column < features && threadIdx.y == 0) db[column] = from_float<S>(sum);
}

void bias_gradient(Stream& stream, const BiasGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_column_lanes(a.rows, [&]<int lanes>() {
      launch_columns<lanes, sum_columns<S, lanes>>(stream, a.features, static_cast<const S*>(a.dy),
                                                   static_cast<S*>(a.db), a.rows, a.features);
    });
  });
}

const RegisterKernel registered(
    "linear.bias_gradient", {.variant = "column_lanes", .algorithm = "column_lanes", .additions = column_additions()},
    bias_gradient);

}  // namespace
}  // namespace tally::bias_gradient_kernel

// db = column sums of dy in fp32, store S: the bias gradient of a linear layer, (linear.4), in two deterministic
// stages.
//
//   dy [rows, features] S   partial [chunks, features] fp32   db [features] S
//
// First stage: one thread a column and chunk of 16 rows, rows added in order. Second stage: one thread a column, chunks
// added in order. The order depends on the sizes alone.
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

// db = column sums of dy in fp32, store S: the bias gradient of a linear layer, (linear.4).
//
//   dy [rows, features] S
//   db [features]       S
//
// A warp a column: lane l adds rows l, l + 32, ... in order, then a shuffle tree of five levels. Neighbouring lanes
// read rows apart; no shared memory, no barrier.
namespace tally::bias_gradient_warp_shuffle_kernel {
namespace {

constexpr int lanes = 32;

template <class S>
__global__ void sum_columns(const S* dy, S* db, std::int64_t rows, std::int64_t features) {
  const RowPlace place = row_place();
  for (std::int64_t column = place.row; column < features; column += place.row_stride) {
    float sum = 0.0f;
    for (std::int64_t row = place.lane; row < rows; row += lanes) {
      sum = __fadd_rn(sum, to_float(dy[row * features + column]));
    }
    sum = row_total<lanes>(sum);
    if (place.lane == 0) db[column] = from_float<S>(sum);
  }
}

void bias_gradient(Stream& stream, const BiasGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    take_way({{"fewer rows than a warp", a.rows < lanes}});
    take_stride_ways(a.rows);
    launch_rows<lanes, sum_columns<S>>(stream, a.features, static_cast<const S*>(a.dy), static_cast<S*>(a.db), a.rows,
                                       a.features);
  });
}

const RegisterKernel registered("linear.bias_gradient",
                                {.variant = "warp_shuffle", .additions = {{SumStep::lanes, lanes}, {SumStep::tree}}},
                                bias_gradient, KernelUse::when_named);

}  // namespace
}  // namespace tally::bias_gradient_warp_shuffle_kernel

// db = column sums of dy in fp32, store S: the bias gradient of a linear layer, (linear.4), by atomics.
//
//   dy [rows, features] S   partial [features] fp32   db [features] S
//
// One thread a column and chunk of 16 rows adds its rows in order, then the chunk to the column's sum by one atomicAdd:
// chunks in whatever order their blocks end, so two runs may differ in bits, and subnormal sums are flushed.
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
