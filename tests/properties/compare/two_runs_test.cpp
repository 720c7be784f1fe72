// An accumulated run beside its full batch: rounding, decisions and the recipe's own gap are told apart.
#include "properties/judge/two_runs.hpp"

#include "tests/properties/compare/lens_cases.hpp"

namespace tally::two_runs_test {
namespace {

TwoRuns compared(const Case& c, const RunOptions& options = {}) {
  const Case full = full_batch_of(c);
  return compare_runs(c, run(c, options), full, run(full));
}

TEST(TwoRuns, AgreeWithinTheirBoundsForEveryRecipe) {
  for (const auto& [name, c] : recipes()) {
    const TwoRuns runs = compared(c);
    EXPECT_EQ(first_failure(runs.checks), nullptr) << name << " " << told(first_failure(runs.checks));
    EXPECT_GE(runs.checks.size(), 2 * c.windows.size() * parameters_of(c.model).size()) << name;
  }
}

TEST(TwoRuns, HaveNoDecisionDriftWhereTheyDecideAlike) {
  EXPECT_EQ(compared(mlp(6)).decision_drift, 0);
  EXPECT_GT(count(compared(mlp(6)).checks, Status::pass), 0u);
}

/// mlp with an input of relu that is 0 but for rounding: x a - x b with a = b but in the order of additions.
Case on_the_edge(unsigned seed) {
  Case c = mlp(seed, Dtype::fp32);
  Tensor& bias = c.tensors.at("fc1.bias");
  Case without = c;
  for (std::size_t j = 0; j < bias.elements(); ++j) without.tensors.at("fc1.bias").set(j, 0);
  const Trace trace = run(without);
  const Tensor& z = *trace.find("w0/m0/forward/fc1.y");
  for (std::size_t j = 0; j < bias.elements(); ++j) bias.set(j, -z.value(j));  // of the first row
  return c;
}

TEST(TwoRuns, CallMasksThatRoundingChoseDecisionDrift) {
  bool found = false;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const Case c = on_the_edge(seed);
    RunOptions other;
    other.order_seed = seed;
    const TwoRuns runs = compared(c, other);
    EXPECT_EQ(first_failure(runs.checks), nullptr) << told(first_failure(runs.checks));
    found = found || runs.decision_drift > 0;
  }
  EXPECT_TRUE(found);
}

TEST(TwoRuns, EndWhereOneOfThemSkips) {
  Case c = normal_case(1, Dtype::fp16);
  c.recipe.loss_scale = choice_of("loss_scale", "dynamic", {{"initial", Decimal{"1024"}}});
  const Case full = full_batch_of(c);
  const Trace a = run(c);
  Trace f;
  f.claims = a.claims;
  const Trace whole = run(full);
  for (const Tap& tap : whole.taps()) {
    Tensor value = tap.value;
    if (tap.name.text() == "w0/overflow_check/found") value.set(0, 1);
    f.add(tap.name, std::move(value));
  }
  ASSERT_EQ(a.find("w0/overflow_check/found")->integer(0), 0);
  const TwoRuns runs = compare_runs(c, a, full, f);
  ASSERT_EQ(runs.checks.size(), 1u);
  EXPECT_EQ(runs.checks.front().status, Status::vacuous);
  EXPECT_EQ(runs.checks.front().tap, "w0/overflow_check/found");
}

TEST(TwoRuns, AreToldApartWhereOneIsWrong) {
  const Case c = mlp(6), full = full_batch_of(c);
  Case other = full;
  other.normalisation = Normalisation::sum;
  EXPECT_NE(first_failure(compare_runs(c, run(c), full, run(other)).checks), nullptr);
}

}  // namespace
}  // namespace tally::two_runs_test
