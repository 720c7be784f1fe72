#include "properties/judge/two_runs.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::expectations_test {
namespace {

Case with_batch_norm() {
  Case c = normal_case(4);
  c.model.layers.insert(c.model.layers.begin() + 1,
                        layer_of("batch_norm", "bn", {{"statistics", std::string("micro_batch")}}));
  c.windows = {{3, 4}, {2, 2}};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 4);
  return c;
}

TEST(SemanticGap, IsZeroForAnEquivalentRecipeAndNotForBatchNorm) {
  EXPECT_EQ(semantic_gap(normal_case(4)), 0);
  EXPECT_GT(semantic_gap(with_batch_norm()), 0.01);
}

TEST(GradientDrift, LiesInsideItsBound) {
  const Case c = mlp(6);
  const Trace trace = run(c);
  const GradientDrift drift = gradient_drift(c, trace, end_to_end_expectations(c, trace));
  EXPECT_GT(drift.rounding, 0);
  EXPECT_LT(drift.rounding, drift.bound);
  EXPECT_LT(drift.bound, 0x1p-8);
}

TEST(RelationCheck, HoldsAnAccumulatedRunAgainstItsFullBatchAndRejectsAHalvedOne) {
  const Case c = mlp(6), full = full_batch_of(c);
  const Trace a = run(c), f = run(full);
  const auto expected_a = end_to_end_expectations(c, a), expected_f = end_to_end_expectations(full, f);
  const std::string tap = "w0/unscale/d.fc1.weight";
  const TensorCheck check =
      relation_check(tap, "unscale", expected_a.at(tap), *a.find(tap), expected_f.at(tap), *f.find(tap));
  EXPECT_EQ(check.status, Status::pass);
  EXPECT_GT(check.worst_ratio, 0);
  Tensor halved = *a.find(tap);
  for (std::size_t i = 0; i < halved.elements(); ++i) halved.set(i, halved.value(i) / 2);
  EXPECT_EQ(relation_check(tap, "unscale", expected_a.at(tap), halved, expected_f.at(tap), *f.find(tap)).status,
            Status::fail);
}

}  // namespace
}  // namespace tally::expectations_test
