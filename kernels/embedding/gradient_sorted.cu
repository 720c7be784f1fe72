// The gradient of a table, (embedding.2) and (position_embedding.3): dW[t] = sum of dy over the rows with index t, added
// in fp32 in the order of the rows from 0 on, store S; 0 where there is none.
//
//   dy [rows, width] S   index, order [rows] i64   dW [table_rows, width] S
//
// First every row finds its place in the order of (index, row): one thread a row counts those before it. Then one
// thread a column and place adds up where the index is another than at the place before, until it changes.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

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
