#include "properties/judge/lens.hpp"

#include "tests/properties/compare/lens_cases.hpp"

namespace tally::lens_test {
namespace {

void expect_both_lenses_clean(const Case& c, const RunOptions& options, const std::string& what) {
  const Trace trace = run(c, options);
  const auto local = local_lens(c, trace), end_to_end = end_to_end_lens(c, trace);
  EXPECT_EQ(first_failure(local), nullptr) << what << " " << told(first_failure(local));
  EXPECT_EQ(first_failure(end_to_end), nullptr) << what << " " << told(first_failure(end_to_end));
  EXPECT_EQ(count(local, Status::not_run), 0u) << what << " " << missing(local);
  EXPECT_EQ(count(end_to_end, Status::not_run), 0u) << what << " " << missing(end_to_end);
  EXPECT_GT(count(local, Status::pass) * 10, local.size() * 9) << what;
  const auto vacuous = [](const auto& checks) {
    return static_cast<unsigned long long>(count(checks, Status::vacuous));
  };
  std::printf("  %-26s local %zu checks, %llu vacuous, worst %.3f; end to end %zu, %llu vacuous, worst %.3f\n",
              what.c_str(), local.size(), vacuous(local), worst_ratio(local), end_to_end.size(), vacuous(end_to_end),
              worst_ratio(end_to_end));
}

const Dtype formats[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

TEST(Lenses, PassCleanRunsOfASmallNetworkInEveryOrder) {
  for (const Dtype storage : formats) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      RunOptions options;
      options.order_seed = seed - 1;
      expect_both_lenses_clean(normal_case(seed, storage), options, "small " + std::string(name_of(storage)));
    }
  }
}

TEST(Lenses, PassCleanRunsOfEveryLayerAndStage) {
  for (const Dtype storage : formats) {
    for (unsigned seed = 1; seed <= 10; ++seed) {
      RunOptions options;
      options.order_seed = seed;
      expect_both_lenses_clean(normal_everything(seed, storage), options,
                               "everything " + std::string(name_of(storage)));
    }
  }
}

TEST(Lenses, PassCleanRunsOfEveryRecipe) {
  for (const auto& [name, c] : recipes()) expect_both_lenses_clean(c, {}, name);
}

TEST(Lenses, PassACleanMlpAndSeeItEndToEnd) {
  expect_both_lenses_clean(mlp(3), {}, "mlp fp32");
  const Case c = mlp(3);
  EXPECT_EQ(count(end_to_end_lens(c, run(c)), Status::vacuous), 0u);
}

TEST(Lenses, PassARunThatWritesGradientsDirectly) {
  Case c = normal_case(2);
  c.windows = {{5}, {3}};
  RunOptions options;
  options.accumulate = false;
  expect_both_lenses_clean(c, options, "direct");
}

TEST(Lenses, PassARunThatRecomputesActivations) {
  Case c = normal_everything(2);
  c.execution.recompute = true;
  expect_both_lenses_clean(c, {}, "recompute");
}

TEST(Lenses, PassAWindowThatOverflowsAndSkips) {
  Case c = normal_case(1, Dtype::fp16);
  c.recipe.loss_scale = choice_of("loss_scale", "dynamic", {{"initial", Decimal{"16777216"}}});
  const Trace trace = run(c);
  ASSERT_EQ(trace.find("w0/overflow_check/found")->integer(0), 1);
  const auto local = local_lens(c, trace), end_to_end = end_to_end_lens(c, trace);
  EXPECT_EQ(first_failure(local), nullptr) << told(first_failure(local));
  EXPECT_EQ(first_failure(end_to_end), nullptr) << told(first_failure(end_to_end));
  EXPECT_EQ(count(local, Status::not_run) + count(end_to_end, Status::not_run), 0u);
  EXPECT_GT(count(local, Status::pass) * 10, local.size() * 8);
}

TEST(Lenses, StandInTheOrderOfTheTaps) {
  const Case c = normal_everything(1);
  const Trace trace = run(c);
  std::map<std::string, std::size_t> position;
  for (const Tap& tap : trace.taps()) position.emplace(tap.name.text(), position.size());
  for (const auto& checks : {local_lens(c, trace), end_to_end_lens(c, trace)}) {
    std::size_t last = 0;
    EXPECT_FALSE(checks.empty());
    for (const TensorCheck& check : checks) {
      EXPECT_LE(last, position.at(check.tap)) << check.tap;
      last = position.at(check.tap);
    }
  }
}

TEST(LocalLens, HoldsEveryTapOfATrace) {
  const Case c = normal_everything(1);
  const Trace trace = run(c);
  std::set<std::string> seen;
  for (const TensorCheck& check : local_lens(c, trace)) seen.insert(check.tap);
  EXPECT_FALSE(trace.taps().empty());
  for (const Tap& tap : trace.taps()) EXPECT_TRUE(seen.contains(tap.name.text())) << tap.name.text();
}

}  // namespace
}  // namespace tally::lens_test
