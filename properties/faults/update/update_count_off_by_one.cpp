// The schedule is told one step more than the run will take.
#include <cmath>
#include <numbers>

#include "properties/faults/seeded.hpp"

namespace tally::update_count_off_by_one_fault {
namespace {

void learning_rate(Run& run) {
  stage::fix_learning_rate(run);
  const Choice& rate = run.c.recipe.learning_rate;
  if (rate.kind != "warmup_cosine") return;
  const auto base = rate.number("base").to_double(), floor = rate.number("floor").to_double();
  const std::int64_t warmup = rate.integer("warmup"), total = rate.integer("total") + 1;
  if (run.step < warmup || run.step >= total) return;
  const double done = static_cast<double>(run.step - warmup) / static_cast<double>(total - warmup);
  const double later = floor + (base - floor) * (1 + std::cos(std::numbers::pi * done)) / 2;
  run.learning_rate = blend(run.learning_rate, later);
}

const RegisterFault registered{{
    .name = "update-count-off-by-one",
    .stage = "optimizer",
    .right = "total steps",
    .wrong = "total steps + 1",
    .condition = "a schedule that knows its end",
    .knob = "value",
    .source = "transformers 37777, PR 37923, llm.c c6680a2",
    .laws = {"rate_follows_its_formula"},
    .stages = replaced<&Stages::learning_rate, learning_rate>,
}};

}  // namespace
}  // namespace tally::update_count_off_by_one_fault
