// Every row that counts is counted once, whatever it weighs: sentences for tokens.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::wrong_item_kind_fault {
namespace {

void factor(Run& run) {
  int counted = 0;
  for (int k = 0; k < micro_batches(run); ++k) {
    for (std::int64_t i = 0; i < run.rows(k); ++i) counted += item_weight(run.c, run.first_row(k) + i).to_double() != 0;
  }
  run.factor = counted == 0 ? 0.0f : run.window_scale / static_cast<float>(counted);
}

const RegisterFault registered{{
    .name = "wrong-item-kind",
    .stage = "loss",
    .right = "N = Σ weights",
    .wrong = "N = rows with a weight",
    .condition = "rows of weight other than 1",
    .knob = "value",
    .source = "OpenNMT-py PR 526, 2209",
    .laws = {"unequal_items_are_weighted"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::wrong_item_kind_fault
