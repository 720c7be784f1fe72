#include <gtest/gtest.h>

#include <set>

#include "oracle/case/io.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/generators/simpler_plans.hpp"

namespace tally::plainer_plan_test {
namespace {

Plan plan_number(std::uint64_t i) {
  const rc::Random random(i);
  return random_plan(i % 2 == 0 ? Dtype::fp32 : Dtype::bf16)(random, 100).value();
}

std::set<std::string> kinds_of(const Plan& plan) {
  std::set<std::string> kinds;
  for (const Layer& layer : plan.hidden) kinds.insert(layer.kind);
  return kinds;
}

TEST(PlainerPlan, IsAValidCaseHoweverPlain) {
  for (std::uint64_t i = 1; i <= 60; ++i) {
    for (const Plainness& plain : plainer_and_plainer) EXPECT_NO_THROW(case_of(plainer(plan_number(i), plain))) << i;
  }
}

TEST(PlainerPlan, IsThePlanItselfWhereNothingIsAskedFor) {
  for (std::uint64_t i = 1; i <= 20; ++i)
    EXPECT_EQ(hash_of(case_of(plainer(plan_number(i), {}))), hash_of(case_of(plan_number(i)))) << i;
}

TEST(PlainerPlan, LeavesOutWhatItSays) {
  std::set<std::string> drawn;
  for (std::uint64_t i = 1; i <= 60; ++i) {
    drawn.merge(kinds_of(plan_number(i)));
    const Plan layers = plainer(plan_number(i), {.layers = true});
    for (const std::string& kind : kinds_of(layers)) EXPECT_TRUE(kind == "linear" || kind == "relu") << kind;
    EXPECT_TRUE(layers.recipe == plan_number(i).recipe) << i;
    const Precision formats = plainer(plan_number(i), {.formats = true}).precision;
    EXPECT_EQ(formats.storage, plan_number(i).precision.storage);
    EXPECT_EQ(formats.master, Dtype::fp32);
    EXPECT_FALSE(formats.tf32);
    const Plan recipe = plainer(plan_number(i), {.recipe = true});
    EXPECT_EQ(recipe.recipe.optimizer.kind, "sgd");
    EXPECT_EQ(recipe.recipe.clip.kind, "none");
    EXPECT_EQ(recipe.recipe.loss_scale.kind, "none");
    EXPECT_EQ(recipe.hidden.size(), plan_number(i).hidden.size()) << i;
  }
  EXPECT_GT(drawn.size(), 4u) << "nothing was there to be left out";
}

}  // namespace
}  // namespace tally::plainer_plan_test
