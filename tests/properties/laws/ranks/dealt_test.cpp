// Plans dealt to ranks make cases that keep the rules.
#include <gtest/gtest.h>

#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/laws/ranks/plans_of_ranks.hpp"

namespace tally::dealt_test {
namespace {

Layer batch_norm(const std::string& name, const std::string& statistics) {
  return layer("batch_norm", name, {{"statistics", statistics}});
}

/// One layer's rows of all ranks are enough where another's own are not.
TEST(DealtToRanks, MakesACaseOfLayersThatNormaliseByTheirOwnAndByAllRows) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Plan plan = random_plan(Dtype::fp32)(rc::Random(seed), rc::kNominalSize).value();
    plan.seed = seed;
    plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{5}}}), batch_norm("norm1", "micro_step"),
                   batch_norm("norm2", "micro_batch")};
    plan.windows = {{1, 3, 3}, {1, 1}, {2, 2}};

    dealt_to_ranks_by_any_normalisation(plan);

    EXPECT_NO_THROW(case_of(plan)) << seed;
  }
}

}  // namespace
}  // namespace tally::dealt_test
