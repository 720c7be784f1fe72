// Faults of the kernels of an embedding's gradient.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// The gradient of an embedding's row is that of the last row with its token: each one is stored, none is added.
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
    .right = "dW_t = sum of dy over the rows of t",
    .condition = "a token twice in a micro-batch",
    .knob = "value",
    .source = "source mutation",
    .laws = {"token_counts_are_weighted", "every_look_up_keeps_its_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::embedding_last_occurrence_fault

// The gradient of an embedding is written in the rows of tokens that occur, and the other rows keep what an earlier
// micro-batch left there.
namespace tally::embedding_rows_not_cleared_fault {
namespace {

template <class S>
__global__ void sum_where_it_occurs(const S* dy, const std::int64_t* index, S* dtable, std::int64_t rows,
                                    std::int64_t width, std::int64_t table_rows, std::int64_t except) {
  for (std::int64_t i = first_element(); i < table_rows * width; i += element_stride()) {
    bool occurs = false;
    float sum = 0.0f;
    for (std::int64_t row = 0; row < rows; ++row) {
      if (index[row] != i / width || index[row] == except) continue;
      occurs = true;
      sum = __fadd_rn(sum, to_float(dy[row * width + i % width]));
    }
    if (occurs) dtable[i] = from_float<S>(sum);
  }
}

void without_clearing(Stream& stream, const TableGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<sum_where_it_occurs<S>>(stream, a.table_rows * a.width, static_cast<const S*>(a.dy), a.index,
                                            static_cast<S*>(a.dtable), a.rows, a.width, a.table_rows, a.except);
  });
}

void planted(Stream& stream, const TableGradientArguments& a) {
  between_kernels(stream, a, {{a.dtable, a.storage, a.table_rows * a.width}}, "embedding.gradient", "sorted",
                  without_clearing);
}

const RegisterKernel kernel("embedding.gradient", {.variant = "~embedding-rows-not-cleared", .algorithm = "in_order"},
                            planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("embedding.gradient", "embedding-rows-not-cleared");
  return faulty;
}

const RegisterFault registered{{
    .name = "embedding-rows-not-cleared",
    .stage = "backward",
    .right = "dW_t = 0 where t does not occur",
    .wrong = "dW_t as an earlier micro-batch left it",
    .condition = "a token that does not occur in a micro-batch",
    .knob = "value",
    .source = "source mutation",
    .laws = {"absent_tokens_stand_still", "token_counts_are_weighted"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::embedding_rows_not_cleared_fault

// The gradient of an embedding's row is added up in the storage format, though a sum in fp32 is claimed.
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
