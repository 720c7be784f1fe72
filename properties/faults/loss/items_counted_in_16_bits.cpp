// Counts of items are kept in bf16, whose whole numbers end at 256.
#include "properties/faults/miscounted.hpp"

namespace tally::items_counted_in_16_bits_fault {
namespace {

std::int64_t in_bf16(std::int64_t count) {
  Tensor kept(Dtype::bf16, {});
  kept.set(0, static_cast<double>(count));
  return static_cast<std::int64_t>(kept.value(0));
}

CountedItems kept_in_bf16(const Run&, const CountedItems& right) {
  CountedItems left = right;
  for (std::int64_t& items : left.of_micro_batch) items = in_bf16(items);
  left.of_window = in_bf16(right.of_window);
  return left;
}

const RegisterFault registered{{
    .name = "items-counted-in-16-bits",
    .stage = "count",
    .right = "n_k, N in i64",
    .wrong = "n_k, N in bf16",
    .condition = "more than 256 items in a window",
    .knob = "rows",
    .source = "source mutation",
    .laws = {"every_look_up_keeps_its_bound", "every_attention_keeps_its_bound"},
    .stages = replaced<&Stages::begin_window, miscounted<kept_in_bf16>>,
}};

}  // namespace
}  // namespace tally::items_counted_in_16_bits_fault
