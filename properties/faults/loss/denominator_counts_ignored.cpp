// Rows that are ignored are counted, padding with them.
#include "properties/faults/miscounted.hpp"

namespace tally::denominator_counts_ignored_fault {
namespace {

CountedItems all_rows(const Run& run, const CountedItems&) {
  return counted_by(run, [](std::int64_t) { return 1; });
}

const RegisterFault registered{{
    .name = "denominator-counts-ignored",
    .stage = "count",
    .right = "n_k = items that count",
    .wrong = "n_k = rows",
    .condition = "ignored rows",
    .knob = "rows",
    .source = "transformers PR 46204, axolotl-ai-cloud/axolotl 2227",
    .laws = {"unequal_items_are_weighted"},
    .stages = replaced<&Stages::begin_window, miscounted<all_rows>>,
}};

}  // namespace
}  // namespace tally::denominator_counts_ignored_fault
