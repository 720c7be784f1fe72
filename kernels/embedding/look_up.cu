// Rows of a table: y = W[t], (embedding.1), a copy; y = x + W[p], (position_embedding.1), one addition in fp32, store S.
//
//   table [table_rows, width] S   index [rows] i64   x, y [rows, width] S
//
// One thread an element, grid-stride.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

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
