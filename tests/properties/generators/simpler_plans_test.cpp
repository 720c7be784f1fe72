// Ways to make a plan simpler: adapters come off their layers, and what is recomputed is no longer chosen.
#include "properties/generators/simpler_plans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "oracle/case/ranks.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"

namespace tally::simpler_plans_test {
namespace {

Plan adapted(std::uint64_t seed) {
  Plan plan;
  plan.seed = seed;
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{4}}}), layer("relu"),
                 layer("linear", "fc2", {{"out", std::int64_t{4}}}), layer("tanh")};
  plan.loss = choice("loss", "mse");
  add_adapters(plan);
  return plan;
}

bool any_simpler(const Plan& plan, const std::function<bool(const Plan&)>& holds) {
  return std::ranges::any_of(simpler_plans(plan), holds);
}

std::size_t adapters_of(const Plan& plan) { return adapted_layers(Model{plan.input, plan.hidden, {}}).size(); }

std::ptrdiff_t linear_layers_of(const Plan& plan) {
  const std::set<std::string> linear{"fc1", "fc2", "gate", "up"};
  return std::ranges::count_if(plan.hidden, [&](const Layer& l) { return linear.contains(l.name); });
}

TEST(SimplerPlans, TakeOneAdapterOffAndLeaveTheRest) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Plan plan = adapted(seed);
    const std::size_t adapters = adapters_of(plan);
    EXPECT_TRUE(any_simpler(plan,
                            [&](const Plan& p) {
                              return adapters_of(p) == adapters - 1 && linear_layers_of(p) == 2 &&
                                     p.hidden.size() < plan.hidden.size();
                            }))
        << "seed " << seed;
  }
}

TEST(SimplerPlans, LetEveryLayerTrain) {
  const Plan plan = adapted(1);
  EXPECT_TRUE(any_simpler(plan, [&](const Plan& p) {
    return p.hidden.size() == plan.hidden.size() && std::ranges::all_of(p.hidden, &Layer::trainable);
  }));
}

TEST(SimplerPlans, OfOneRankSayNothingOfRunningValues) {
  Plan plan;
  plan.hidden = {
      layer("batch_norm", "bn", {{"statistics", std::string("micro_batch")}, {"running", std::string("each")}})};
  plan.loss = choice("loss", "mse");
  plan.ranks = 3;

  for (const Plan& p : simpler_plans(plan)) EXPECT_TRUE(p.ranks > 1 || p.hidden.empty() || !says_running(p.hidden[0]));
  EXPECT_TRUE(any_simpler(plan, [](const Plan& p) { return p.ranks == 1; }));
  EXPECT_TRUE(
      any_simpler(plan, [](const Plan& p) { return p.ranks == 3 && !p.hidden.empty() && !says_running(p.hidden[0]); }));
}

TEST(SimplerPlans, RecomputeAllLayersBeforeNone) {
  Plan plan = adapted(1);
  plan.execution.recompute = plan.recomputes_some = true;
  EXPECT_FALSE(case_frame(plan).execution.recomputed.empty());
  EXPECT_TRUE(any_simpler(plan, [](const Plan& p) { return p.execution.recompute && !p.recomputes_some; }));
  EXPECT_TRUE(any_simpler(plan, [](const Plan& p) { return !p.execution.recompute; }));
}

}  // namespace
}  // namespace tally::simpler_plans_test
