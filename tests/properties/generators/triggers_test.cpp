// What real faults need to show: the generator must draw it, often enough that default effort meets it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "oracle/case/contract.hpp"
#include "properties/generators/random_plan.hpp"

namespace tally::triggers_test {
namespace {

constexpr std::uint64_t plans = 400;

bool has_identical_micro_batches(const Case& c) {
  const Tensor& x = c.tensors.at("x");
  const std::size_t width = x.bytes.size() / static_cast<std::size_t>(x.shape[0]);
  std::set<std::vector<std::byte>> rows;
  for (std::size_t row = 0; row < static_cast<std::size_t>(x.shape[0]); ++row) {
    const auto begin = x.bytes.begin() + static_cast<std::ptrdiff_t>(row * width);
    rows.insert({begin, begin + static_cast<std::ptrdiff_t>(width)});
  }
  return rows.size() == 1 && x.shape[0] > 1;
}

/// How many of the plans have each trigger.
std::map<std::string, int> census() {
  std::map<std::string, int> seen;
  for (std::uint64_t i = 1; i <= plans; ++i) {
    const rc::Random random(i);
    const Plan plan = random_plan(Dtype::fp32)(random, 100).value();
    const auto& first = plan.windows.front();
    seen["one micro-batch"] += first.size() == 1;
    seen["several micro-batches"] += first.size() > 1;
    seen["unequal micro-batches"] += std::ranges::count(first, first[0]) != std::ssize(first);
    seen["a second window"] += plan.windows.size() > 1;
    seen["a shorter last window"] += plan.windows.back().size() < first.size();
    seen["ignored rows"] += plan.ignored_percent > 0;
    seen["momentum or moments"] += !state_of(plan.recipe.optimizer).empty();
    seen["decay"] += plan.recipe.weight_decay.kind != "none";
    seen["no clip"] += plan.recipe.clip.kind == "none";
    seen["a clip of another limit than 1"] += plan.recipe.clip.kind != "none";
    seen["a scale other than 1"] += plan.recipe.loss_scale.kind != "none";
    seen["recomputation"] += plan.execution.recompute;
    seen["one row"] += first[0] == 1;
    seen["identical micro-batches"] += has_identical_micro_batches(case_of(plan));
  }
  return seen;
}

TEST(Triggers, AreDrawnAtLeastOnceInTwentyPlans) {
  for (const auto& [trigger, count] : census()) {
    if (trigger == "identical micro-batches") {
      EXPECT_EQ(count, 0) << "identical micro-batches hide how they are weighted";
    } else {
      EXPECT_GE(count, static_cast<int>(plans / 20)) << trigger;
    }
  }
}

}  // namespace
}  // namespace tally::triggers_test
