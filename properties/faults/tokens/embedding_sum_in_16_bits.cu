// The gradient of an embedding's row is added up in the storage format, though a sum in fp32 is claimed.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::embedding_sum_in_16_bits_fault {
namespace {

template <class S>
__global__ void add_in_storage(const S* dy, const std::int64_t* index, S* dtable, std::int64_t rows, std::int64_t width,
                               std::int64_t table_rows, std::int64_t except) {
  for (std::int64_t i = first_element(); i < table_rows * width; i += element_stride()) {
    S sum = from_float<S>(0.0f);
    for (std::int64_t row = 0; row < rows; ++row)
      if (index[row] == i / width && index[row] != except)
        sum = from_float<S>(__fadd_rn(to_float(sum), to_float(dy[row * width + i % width])));
    dtable[i] = sum;
  }
}

void in_storage(Stream& stream, const TableGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<add_in_storage<S>>(stream, a.table_rows * a.width, static_cast<const S*>(a.dy), a.index,
                                       static_cast<S*>(a.dtable), a.rows, a.width, a.table_rows, a.except);
  });
}

void planted(Stream& stream, const TableGradientArguments& a) {
  between_kernels(stream, a, {{a.dtable, a.storage, a.table_rows * a.width}}, "embedding.gradient", "sorted",
                  in_storage);
}

const RegisterKernel kernel("embedding.gradient", {.variant = "~embedding-sum-in-16-bits", .algorithm = "in_order"},
                            planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("embedding.gradient", "embedding-sum-in-16-bits");
  return faulty;
}

const RegisterFault registered{{
    .name = "embedding-sum-in-16-bits",
    .stage = "backward",
    .right = "dW_t added in fp32, stored once",
    .wrong = "dW_t rounded to the storage format after every addition",
    .condition = "16 bits, and a token three times in a micro-batch",
    .knob = "value",
    .source = "tenstorrent/tt-metal 53386, flagos-ai/FlagGems 309",
    .laws = {"token_counts_are_weighted"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::embedding_sum_in_16_bits_fault
