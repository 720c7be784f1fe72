#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "properties/campaign/coverage/coverage.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/generators/settings.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally::triggers_test {
namespace {

Plan small_plan() {
  Plan plan = random_plan(Dtype::fp32)(rc::Random(5), 20).value();
  plan.input = 4;
  plan.hidden.clear();
  plan.outputs = 2;
  plan.loss = choice("loss", "mse");
  plan.ignored_percent = 0;
  plan.empty_micro_batch = plan.execution.recompute = false;
  plan.windows = {{2, 2}, {2, 2}};
  plan.recipe.clip = choice("clip", "none");
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.recipe.weight_decay = choice("weight_decay", "none");
  return plan;
}

/// Names of the triggers that the case's run shows.
std::set<std::string> shown(const Case& c) {
  const std::set<std::size_t> seen = triggers_of(Sight(c, c, run(c, RunOptions{})));
  std::set<std::string> names;
  for (const std::size_t place : seen) names.insert(triggers()[place].name);
  return names;
}

/// Whether the change to the small plan makes the trigger show, which it does not without.
void expect_shown_by(const std::string& trigger, const std::function<void(Plan&)>& change) {
  Plan plan = small_plan();
  EXPECT_FALSE(shown(case_of(plan)).contains(trigger)) << trigger;
  change(plan);
  EXPECT_TRUE(shown(case_of(plan)).contains(trigger)) << trigger;
}

TEST(Triggers, HaveNamesOfTheirOwnAndAWayToBeSeen) {
  std::set<std::string> names;
  for (const Trigger& t : triggers()) {
    EXPECT_TRUE(names.insert(t.name).second) << t.name;
    EXPECT_TRUE(t.kind != TriggerKind::later || !t.description.empty()) << t.name << " gives no reason";
    EXPECT_TRUE(t.kind != TriggerKind::of_case || t.seen) << t.name;
  }
  EXPECT_GE(names.size(), 60u);
}

TEST(Triggers, OfItemsFollowTheCut) {
  expect_shown_by("unequal n_k", [](Plan& p) { p.windows = {{2, 3}}; });
  expect_shown_by("K = 1", [](Plan& p) { p.windows = {{2}}; });
  expect_shown_by("K = 3", [](Plan& p) { p.windows = {{2, 2, 2}}; });
  expect_shown_by("large K", [](Plan& p) { p.windows = {std::vector<std::int64_t>(256, 1)}; });
  expect_shown_by("one n_k = 0", [](Plan& p) {
    p.loss = choice("loss", "mse", {{"item_weights", true}});
    p.empty_micro_batch = true;
  });
}

TEST(Triggers, OfWindowsFollowTheEpochsEnd) {
  expect_shown_by("three steps or more", [](Plan& p) { p.windows = {{2}, {2}, {2}}; });
  expect_shown_by("one micro-batch left over", [](Plan& p) { p.windows = {{2, 2, 2}, {2}}; });
  expect_shown_by("K - 1 micro-batches left over", [](Plan& p) { p.windows = {{2, 2, 2}, {2, 2}}; });
  expect_shown_by("K grows from window to window", [](Plan& p) { p.windows = {{2}, {2, 2}}; });
}

TEST(Triggers, OfTheClipFollowTheNormThatTheRunFound) {
  const auto limit = [](const char* most) {
    return [most](Plan& p) { p.recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{most}}}); };
  };
  expect_shown_by("clip inactive", limit("100000"));
  expect_shown_by("clip active", limit("0.0001"));
  expect_shown_by("clip by value", [](Plan& p) {
    p.recipe.clip = choice("clip", "value", {{"max_value", Decimal{"1"}}});
  });
}

TEST(Triggers, OfTheScaleFollowWhatTheScalerDid) {
  const auto dynamic = [](const char* initial) {
    return choice("loss_scale", "dynamic", {{"initial", Decimal{initial}}, {"growth_interval", std::int64_t{1}}});
  };
  expect_shown_by("scale grows", [&](Plan& p) { p.recipe.loss_scale = dynamic("1024"); });
  expect_shown_by("overflow in the first micro-batch", [&](Plan& p) {
    p.gradient_magnitude = 0x1p100;
    p.recipe.loss_scale = dynamic("1152921504606846976");
  });
  expect_shown_by("recovery", [&](Plan& p) {
    p.gradient_magnitude = 0x1p100;
    p.recipe.loss_scale = dynamic("1152921504606846976");
  });
}

TEST(Triggers, OfValuesFollowTheBitsOfX) {
  const auto values = [](const char* family) { return [family](Plan& p) { p.values = family; }; };
  expect_shown_by("negative zero", values("zeros_signed"));
  expect_shown_by("subnormal input", values("tiny"));
  expect_shown_by("subnormal gradient", values("tiny"));
  expect_shown_by("neighbour of a power of two", values("powers"));
  expect_shown_by("half-way case", values("halfway"));
  expect_shown_by("cancelling pair", values("pairs"));
  expect_shown_by("graded magnitudes", values("wide"));
}

std::size_t place_of_setting(const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(settings(), name, &CaseSetting::name) - settings().begin());
}

TEST(Coverage, CountsACaseOnceAndPairsByRun) {
  Coverage coverage;
  const std::size_t adam = place_of_setting("optimizer adam"), relu = place_of_setting("layer relu"),
                    mse = place_of_setting("loss mse"), sgd = place_of_setting("optimizer sgd");
  const SeenRun first{{0, 1}, {adam, relu}}, second{{1}, {relu, mse, sgd}};
  EXPECT_EQ(coverage.new_pairs({first, second}), 4u);

  coverage.add_case({first, second});

  EXPECT_EQ(coverage.records()[1].seen, 1u);
  const auto seen_together = [&](std::size_t a, std::size_t b) {
    return was_seen_with(coverage.records()[triggers().size() + std::max(a, b)], std::min(a, b));
  };
  EXPECT_TRUE(seen_together(adam, relu) && seen_together(relu, mse) && seen_together(mse, sgd));
  EXPECT_FALSE(seen_together(adam, mse));
  EXPECT_EQ(coverage.new_pairs({first, second}), 0u);
  EXPECT_THROW(coverage.note("no such trigger"), std::logic_error);
}

TEST(Coverage, CollectsJudgedRunsInsideAScopeAlone) {
  const Case c = case_of(small_plan());
  run_and_check(c, RunOptions{});
  const CoverageScope scope(c);
  EXPECT_TRUE(scope.runs().empty());

  run_and_check(c, RunOptions{});

  ASSERT_EQ(scope.runs().size(), 1u);
  EXPECT_EQ(scope.runs()[0].triggers, triggers_of(Sight(c, c, run(c, RunOptions{}))));
}

}  // namespace
}  // namespace tally::triggers_test
