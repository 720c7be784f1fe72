// Ignored rows are counted in the denominator.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

void factor(Run& run) {
  std::int64_t rows = 0;
  for (int k = 0; k < micro_batches(run); ++k) rows += run.rows(k);
  run.factor = static_cast<float>(run.window_scale / static_cast<double>(rows));
}

const RegisterFault registered{{
    .name = "denominator-counts-ignored",
    .stage = "loss",
    .right = "N = items that count",
    .wrong = "N = rows",
    .condition = "ignored rows",
    .knob = "value",
    .source = "transformers PR 46204",
    .laws = {"unequal_items_are_weighted"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally
