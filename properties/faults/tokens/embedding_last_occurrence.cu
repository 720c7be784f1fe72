// The gradient of an embedding's row is that of the last row with its token: each one is stored, none is added.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::embedding_last_occurrence_fault {
namespace {

template <class S>
__global__ void store_last(const S* dy, const std::int64_t* index, S* dtable, std::int64_t rows, std::int64_t width,
                           std::int64_t table_rows, std::int64_t except) {
  for (std::int64_t i = first_element(); i < table_rows * width; i += element_stride()) {
    S last = from_float<S>(0.0f);
    for (std::int64_t row = 0; row < rows; ++row)
      if (index[row] == i / width && index[row] != except) last = dy[row * width + i % width];
    dtable[i] = last;
  }
}

void last_alone(Stream& stream, const TableGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<store_last<S>>(stream, a.table_rows * a.width, static_cast<const S*>(a.dy), a.index,
                                   static_cast<S*>(a.dtable), a.rows, a.width, a.table_rows, a.except);
  });
}

void planted(Stream& stream, const TableGradientArguments& a) {
  between_kernels(stream, a, {{a.dtable, a.storage, a.table_rows * a.width}}, "embedding.gradient", "sorted",
                  last_alone);
}

const RegisterKernel kernel("embedding.gradient", {.variant = "~embedding-last-occurrence", .algorithm = "in_order"},
                            planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("embedding.gradient", "embedding-last-occurrence");
  return faulty;
}

const RegisterFault registered{{
    .name = "embedding-last-occurrence",
    .stage = "backward",
    .right = "dW_t = sum of dy over the rows of t",
    .wrong = "dW_t = dy of the last row of t",
    .condition = "a token twice in a micro-batch",
    .knob = "value",
    .source = "source mutation",
    .laws = {"token_counts_are_weighted", "every_look_up_keeps_its_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::embedding_last_occurrence_fault
