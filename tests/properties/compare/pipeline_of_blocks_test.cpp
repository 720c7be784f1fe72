// Residual blocks and language models cut into stages: several layers of a part read what came, and what they give is
// summed there and goes back.
#include <algorithm>

#include "oracle/case/graph.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/token_plan.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::pipeline_of_blocks_test {
namespace {

using namespace three;

/// fc1, a block (norm, up, sum), another norm, out.
Case block() {
  Plan plan = small_plan();
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{4}}}), layer("rms_norm", "norm"),
                 layer("linear", "up", {{"out", std::int64_t{4}}}), sum_of("sum", {"fc1", "up"}),
                 layer("rms_norm", "norm2")};
  plan.windows = {{2, 1, 3, 2}, {1, 2}};
  plan.recipe.clip = choice("clip", "none");
  plan.execution.kernels = {{"add_norm", "fused"}, {"add_norm.backward", "fused"}};
  return case_of(plan);
}

Case cut_at(Case c, const std::vector<int>& layers) {
  std::vector<Decimal> cut;
  for (const int layer : layers) cut.push_back(Decimal{std::to_string(layer)});
  c = with_rank_option(std::move(c), "pipeline.stages", static_cast<std::int64_t>(cut.size()) + 1);
  c = with_rank_option(std::move(c), "pipeline.schedule", std::string("1f1b"));
  return with_rank_option(std::move(c), "pipeline.cut", std::move(cut));
}

TEST(PipelinesOfBlocks, AreCutInFrontOfABlockAndBehindIt) {
  EXPECT_EQ(places_to_cut(block().model), (std::vector<std::size_t>{1, 4, 5}));
}

TEST(PipelinesOfBlocks, JudgeEveryTap) {
  expect_every_tap_checked(cut_at(block(), {1, 4}));
  expect_judged(cut_at(block(), {1, 4}), "in front of a block and behind it");
  expect_judged(cut_at(block(), {1}), "in front of a block");
}

TEST(PipelinesOfBlocks, NameTheStageOfADamagedSum) {
  const Case c = cut_at(block(), {1, 4});
  const Trace trace = run(c);

  for (const std::string tap : {"w0/p1/m1/send/in.d.fc1.y", "w0/p0/m1/receive/d.fc1.y", "w0/p2/m2/receive/norm2.x",
                                "w0/p2/m0/send/in.d.norm2.x", "w0/m1/fork/d.fc1.y"})
    EXPECT_EQ(first_failing(checks_of(c, damaged(trace, tap, 1))), tap);
  EXPECT_EQ(first_failure(judge(c, damaged(trace, "w0/m1/fork/d.fc1.y", 1)).checks)->place, "stage 1 of the pipeline");
}

TEST(PipelinesOfBlocks, LeaveTheBitsOfOneProcess) {
  Case whole = block();
  whole.execution.ranks.kind = "ranks";
  const Trace alone = run(whole);

  for (const std::vector<int>& cut : {std::vector{1, 4}, {1}, {4, 5}}) {
    const Trace trace = run(cut_at(block(), cut));
    std::size_t compared = 0;
    for (const Tap& tap : alone.taps()) {
      if (tap.name.tensor == "in.found" || tap.name.tensor == "found") continue;  // each stage has found its own
      const Tensor* its = trace.find(tap.name.view());
      ASSERT_NE(its, nullptr) << tap.name.text();
      EXPECT_EQ(*its, tap.value) << tap.name.text();
      ++compared;
    }
    EXPECT_GT(compared, 0u);
  }
}

/// A layer that is a part of its own, and whose output several layers of the next part read.
TEST(PipelinesOfBlocks, HaveEveryTapOfAPartOfOneLayerThatABlockReads) {
  Plan plan = small_plan();
  plan.hidden = {layer("linear", "in", {{"out", std::int64_t{4}}}), layer("relu", "r"),
                 layer("linear", "up", {{"out", std::int64_t{4}}}), sum_of("sum", {"r", "up"})};
  const Case c = cut_at(case_of(plan), {1, 2});

  expect_every_tap_checked(c);
  expect_judged(c, "a part of one layer");
}

Case language_model(bool tied) {
  Plan plan = small_plan();
  plan.windows = {{5, 3, 4}, {2, 4}};
  attend(plan);
  plan.tokens.tied = tied;
  return case_of(plan);
}

TEST(PipelinesOfLanguageModels, AreJudged) {
  const Case c = language_model(false);
  const std::vector<std::size_t> places = places_to_cut(c.model);
  ASSERT_GE(places.size(), 2U);
  expect_judged(cut_at(c, {static_cast<int>(places.front()), static_cast<int>(places.back())}), "a language model");
}

TEST(PipelinesOfLanguageModels, AreNotCutBetweenATableAndTheLayerTiedToIt) {
  EXPECT_TRUE(places_to_cut(language_model(true).model).empty());
}

}  // namespace
}  // namespace tally::pipeline_of_blocks_test
