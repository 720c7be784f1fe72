// Rows of a table looked up, and the table's gradient, in the order of the rows or by atomics.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

// Rows of a table: y = W[t], (embedding.1), a copy; y = x + W[p], (position_embedding.1), one addition in fp32, store S.
//
//   table [table_rows, width] S   index [rows] i64   x, y [rows, width] S
//
// One thread an element, grid-stride.
namespace tally::look_up_kernel {
namespace {

template <class S>
__global__ void copy_rows(const S* table, const std::int64_t* index, S* y, std::int64_t elements, std::int64_t width) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride())
    y[i] = table[index[i / width] * width + i % width];
}

template <class S>
__global__ void add_rows(const S* x, const S* table, const std::int64_t* index, S* y, std::int64_t elements,
                         std::int64_t width) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride())
    y[i] = from_float<S>(__fadd_rn(to_float(x[i]), to_float(table[index[i / width] * width + i % width])));
}

template <class S>
__global__ void copy_elements(const S* from, S* to, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) to[i] = from[i];
}

void gather(Stream& stream, const LookUpArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<copy_rows<S>>(stream, a.rows * a.width, static_cast<const S*>(a.table), a.index,
                                  static_cast<S*>(a.out), a.rows * a.width, a.width);
  });
}

void add(Stream& stream, const LookUpArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<add_rows<S>>(stream, a.rows * a.width, static_cast<const S*>(a.x), static_cast<const S*>(a.table),
                                 a.index, static_cast<S*>(a.out), a.rows * a.width, a.width);
  });
}

void copy(Stream& stream, const CopyArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<copy_elements<S>>(stream, a.elements, static_cast<const S*>(a.from), static_cast<S*>(a.to),
                                      a.elements);
  });
}

const RegisterKernel registered_gather("embedding.forward", {.variant = "gather", .as_written = true}, gather);
const RegisterKernel registered_add("position_embedding.forward", {.variant = "gather", .as_written = true}, add);
const RegisterKernel registered_copy("position_embedding.backward", {.variant = "copy", .as_written = true}, copy);

}  // namespace
}  // namespace tally::look_up_kernel

// The gradient of a table, (embedding.2) and (position_embedding.3): dW[t] = sum of dy over the rows with index t, added
// in fp32 in the order of the rows from 0 on, store S; 0 where there is none.
//
//   dy [rows, width] S   index, order [rows] i64   dW [table_rows, width] S
//
// First every row finds its place in the order of (index, row): one thread a row counts those before it. Then one
// thread a column and place adds up where the index is another than at the place before, until it changes.
namespace tally::gradient_sorted_kernel {
namespace {

__global__ void sort_rows(const std::int64_t* index, std::int64_t* order, std::int64_t rows) {
  for (std::int64_t row = first_element(); row < rows; row += element_stride()) {
    std::int64_t before = 0;
    for (std::int64_t other = 0; other < rows; ++other)
      before += index[other] < index[row] || (index[other] == index[row] && other < row);
    order[before] = row;
  }
}

template <class S>
__global__ void clear_table(S* dtable, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) dtable[i] = from_float<S>(0.0f);
}

template <class S>
__global__ void add_segments(const S* dy, const std::int64_t* index, const std::int64_t* order, S* dtable,
                             std::int64_t rows, std::int64_t width, std::int64_t except) {
  for (std::int64_t i = first_element(); i < rows * width; i += element_stride()) {
    const std::int64_t place = i / width, column = i % width, at = index[order[place]];
    if (at == except || (place > 0 && index[order[place - 1]] == at)) continue;
    float sum = 0.0f;
    for (std::int64_t next = place; next < rows && index[order[next]] == at; ++next)
      sum = __fadd_rn(sum, to_float(dy[order[next] * width + column]));
    dtable[at * width + column] = from_float<S>(sum);
  }
}

void gradient(Stream& stream, const TableGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<clear_table<S>>(stream, a.table_rows * a.width, static_cast<S*>(a.dtable), a.table_rows * a.width);
    launch_elements<sort_rows>(stream, a.rows, a.index, a.order, a.rows);
    launch_elements<add_segments<S>>(stream, a.rows * a.width, static_cast<const S*>(a.dy), a.index, a.order,
                                     static_cast<S*>(a.dtable), a.rows, a.width, a.except);
  });
}

const RegisterKernel registered("embedding.gradient", {.variant = "sorted", .algorithm = "in_order"}, gradient);

}  // namespace
}  // namespace tally::gradient_sorted_kernel

// The gradient of a table, (embedding.2) and (position_embedding.3), by atomics: sums in fp32, store S.
//
//   dy [rows, width] S   index [rows] i64   sums [table_rows, width] fp32   dW [table_rows, width] S
//
// One thread an element of dy adds it to its sum by one atomicAdd, in whatever order blocks end, so two runs may differ
// in bits, and subnormal sums are flushed.
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
