// Stages of a pipeline under the lenses: what is right passes, and what is wrong is named with its stage.
#include "kernels/trace/tap_name.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/sharding.hpp"
#include "tests/properties/compare/changed_trace.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::pipeline_test {
namespace {

using namespace three;

std::vector<Decimal> cut_at(const std::vector<int>& layers) {
  std::vector<Decimal> cut;
  for (const int layer : layers) cut.push_back(Decimal{std::to_string(layer)});
  return cut;
}

Plan four_layers() {
  Plan plan = small_plan();
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{5}}}), layer("relu"),
                 layer("linear", "fc2", {{"out", std::int64_t{3}}})};
  plan.windows = {{2, 1, 3, 2}, {1, 2}};
  return plan;
}

/// fc1 and relu, fc2, out on as many stages as parts over chunks.
Case staged(const std::string& schedule, const std::vector<int>& cut = {2, 3}, int chunks = 1) {
  Case c = case_of(four_layers());
  const auto stages = static_cast<std::int64_t>(cut.size() + 1) / chunks;
  c = with_rank_option(std::move(c), "pipeline.stages", stages);
  c = with_rank_option(std::move(c), "pipeline.cut", cut_at(cut));
  c = with_rank_option(std::move(c), "pipeline.chunks", std::int64_t{chunks});
  return with_rank_option(std::move(c), "pipeline.schedule", schedule);
}

/// The same stages on each of three ranks, all of which have some micro-batch in the first window alone.
Case on_ranks(Case c, const std::vector<std::vector<std::int64_t>>& dealt = {{1, 1, 2}, {2, 0, 0}}) {
  c.dealt = dealt;
  return with_rank_option(std::move(c), "reduce.algorithm", std::string("ring"));
}

Case last_first() { return with_rank_option(staged("gpipe"), "pipeline.backward", std::string("lifo")); }

TEST(PipelinesUnderTheLenses, PassByEveryScheduleWithEveryTapJudged) {
  expect_judged(staged("gpipe"), "gpipe");
  expect_judged(staged("1f1b"), "1f1b");
  expect_judged(staged("interleaved", {1, 2, 3}, 2), "interleaved");
  expect_judged(last_first(), "last first");
}

TEST(PipelinesUnderTheLenses, JudgeEveryTapOfEveryStage) {
  const Case c = staged("1f1b");
  expect_every_tap_checked(c);
}

TEST(PipelinesUnderTheLenses, NameTheStageOfADamagedTap) {
  const Case c = staged("1f1b");
  const Trace trace = run(c);

  for (const std::string tap :
       {"w0/p1/m1/receive/fc2.x", "w0/p0/m2/send/in.relu#1.y", "w0/p2/m0/send/in.d.out.x", "w0/p1/m3/receive/d.fc2.y",
        "w0/m1/forward/fc2.y", "w0/p1/overflow_check/found", "w0/p2/agree/found", "w0/p1/norm/part", "w0/p2/norm/norm",
        "w1/p1/clip/coefficient", "w1/optimizer/fc2.weight"})
    EXPECT_EQ(first_failing(checks_of(c, damaged(trace, tap, 1))), tap);
}

TEST(PipelinesUnderTheLenses, HoldNoDecisionOfAStageWithABufferThatIsNotTapped) {
  const Case c = staged("1f1b");
  const Trace whole = run(c);
  const Trace part = changed(whole, "w0/overflow_check/in.buffer.fc2.weight", [](Tensor&) { return false; });
  ASSERT_EQ(part.taps().size() + 1, whole.taps().size());

  for (const TensorCheck& check : checks_of(c, part)) EXPECT_NE(check.status, Status::fail) << check.tap;
}

TEST(PipelinesUnderTheLenses, PassOnEveryRank) {
  expect_judged(on_ranks(staged("gpipe")), "gpipe");
  expect_judged(on_ranks(staged("1f1b")), "1f1b");
  expect_judged(on_ranks(staged("interleaved", {1, 2, 3}, 2), {{2, 0, 2}, {2, 0, 0}}), "interleaved");
  expect_judged(on_ranks(last_first()), "last first");
}

TEST(PipelinesUnderTheLenses, KnowWhatIsClaimedOfLayersThatTheFirstStageLacks) {
  Plan plan = four_layers();
  plan.hidden = {layer("relu")};
  plan.execution.kernels["linear.weight_gradient"] = "into_buffer";
  Case c = with_rank_option(case_of(plan), "pipeline.stages", std::int64_t{2});
  c = with_rank_option(std::move(c), "pipeline.cut", cut_at({1}));

  const Trace trace = run(c);

  EXPECT_EQ(trace.claims.kernels.at("linear.weight_gradient").algorithm, "into_buffer");
  EXPECT_EQ(trace.groups.size(), 1U);
  expect_judged(c, "a first stage without a parameter");
}

TEST(PipelinesUnderTheLenses, NameTheRankAndTheStageOfADamagedTap) {
  const Case c = on_ranks(staged("1f1b"));
  const Trace trace = run(c);

  for (const std::string tap :
       {"w0/r2/p1/m1/receive/fc2.x", "w0/r2/p0/m1/send/in.relu#1.y", "w0/r0/p2/m0/send/in.d.out.x",
        "w0/r2/m1/forward/fc2.y", "w0/r1/reduce/reduced.fc2.weight", "w0/r1/p1/overflow_check/found",
        "w0/r1/p2/agree/found", "w0/r2/p1/norm/part", "w0/r1/p2/norm/norm", "w1/r2/p1/clip/coefficient"})
    EXPECT_EQ(first_failing(checks_of(c, damaged(trace, tap, 1))), tap);
}

/// Ranks that share the optimizer's state, on every stage its own.
Case sharing(Case c) { return with_rank_option(std::move(c), "sharding", std::string("optimizer")); }

TEST(PipelinesUnderTheLenses, PassWhereRanksShareTheOptimizerOfEachStage) {
  for (const std::string norm : {"squares", "norms"}) {
    expect_judged(with_rank_option(sharing(on_ranks(staged("1f1b"))), "reduce.norm", norm), norm);
    expect_judged(with_rank_option(sharing(staged("gpipe")), "reduce.norm", norm), norm + " of one rank");
  }
  expect_judged(sharing(on_ranks(last_first())), "last first");
}

TEST(PipelinesUnderTheLenses, NameTheRankAndTheStageThatKeepsADamagedPiece) {
  const Case c = sharing(on_ranks(staged("1f1b")));
  const Trace trace = run(c);

  for (const std::string tap : {"w0/r1/p1/overflow_check/found", "w0/r2/p0/agree/in.found", "w0/r0/p2/norm/part",
                                "w0/r1/p1/norm/norm", "w0/r0/optimizer/fc2.weight", "w0/r2/gather_updated/fc1.weight"})
    EXPECT_EQ(first_failing(checks_of(c, damaged(trace, tap, 1))), tap);
}

TEST(PipelinesUnderTheLenses, HoldTheDivisorOfEveryStageOfEveryRank) {
  const Case c = with_rank_option(on_ranks(staged("1f1b")), "reduce.divide", std::string("before"));
  const Trace trace = run(c);

  for (const std::string tap : {"w0/r0/reduce/in.divisor", "w0/r2/reduce/in.divisor", "w0/r2/p2/reduce/in.divisor"})
    EXPECT_EQ(first_failing(checks_of(c, damaged(trace, tap, 1))), tap);
}

TEST(PipelinesUnderTheLenses, SayWhichStageALayerIsOn) {
  const Case c = staged("gpipe");
  const Trace trace = damaged(run(c), "w0/m1/forward/fc2.y", 1);

  const Outcome outcome = judge(c, trace);

  const TensorCheck* failure = first_failure(outcome.checks);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->place, "stage 1 of the pipeline");
}

TEST(PipelinesUnderTheLenses, DoNotRunWhereAStageLeavesOutWhatItAgreedOn) {
  const Case c = staged("gpipe");
  const Trace all = run(c);
  Trace trace;
  trace.claims = all.claims;
  trace.case_hash = all.case_hash;
  for (const Tap& tap : all.taps())
    if (tap.name.text() != "w0/p2/agree/found") trace.add(tap.name, tap.value);

  EXPECT_NE(judge(c, trace).status, Status::pass);
}

TEST(Pipelines, LeaveTheBitsOfOneProcessWhereMicroBatchesGoBackInOrder) {
  Case whole = case_of(four_layers());
  whole.recipe.clip = choice("clip", "none");
  whole.execution.ranks.kind = "ranks";
  const Trace alone = run(whole);

  for (Case c : {staged("gpipe"), staged("1f1b"), staged("interleaved", {1, 2, 3}, 2), staged("1f1b", {1})}) {
    c.recipe.clip = whole.recipe.clip;
    const Trace trace = run(c);
    std::size_t compared = 0;
    for (const Tap& tap : alone.taps()) {
      if (is_of_own_stage(tap.name.stage, tap.name.tensor)) continue;  // each has found its own
      const Tensor* its = trace.find(tap.name.view());
      ASSERT_NE(its, nullptr) << tap.name.text();
      EXPECT_EQ(*its, tap.value) << tap.name.text();
      ++compared;
    }
    EXPECT_GT(compared, 0u);
  }
}

TEST(Pipelines, AddInAnotherOrderWhereTheLastMicroBatchGoesBackFirst) {
  const Trace in_order = run(staged("gpipe")), other = run(last_first());

  EXPECT_EQ(*in_order.find("w0/m3/accumulate/in.d.fc1.weight"), *other.find("w0/m3/accumulate/buffer.fc1.weight"));
  EXPECT_EQ(*in_order.find("w0/m0/accumulate/buffer.fc1.weight"), *other.find("w0/m0/accumulate/in.d.fc1.weight"));
}

TEST(Pipelines, LeaveOnEveryRankTheSumsOfRanksWithTheWholeModel) {
  for (const char* algorithm : {"in_order", "all_to_all", "recursive_doubling", "tree"}) {
    Case c = with_rank_option(on_ranks(staged("1f1b")), "reduce.algorithm", std::string(algorithm)), whole = c;
    for (const char* key : {"pipeline.stages", "pipeline.cut", "pipeline.chunks", "pipeline.schedule"})
      whole = with_rank_option(std::move(whole), key, standard_rank_option(key));
    const Trace alone = run(whole), trace = run(c);
    std::size_t compared = 0;
    for (const Tap& tap : alone.taps()) {
      if (tap.name.window > 0 || tap.name.stage != "reduce" || !tap.name.tensor.starts_with("reduced.")) continue;
      const Tensor* its = trace.find(tap.name.view());
      ASSERT_NE(its, nullptr) << tap.name.text();
      EXPECT_EQ(*its, tap.value) << tap.name.text();
      ++compared;
    }
    EXPECT_GT(compared, 0u);
  }
}

TEST(Pipelines, NameWhoWaitsForWhomWhereAStageLeavesOutAMessage) {
  static const Stages silent = [] {
    Stages copy = shipped_stages();
    copy.send = [](tally::Run& run) {
      if (run.pipe_rank > 0 || run.micro_batch > 0) stage::send(run);
    };
    return copy;
  }();
  RunOptions options;
  options.stages = &silent;

  const Trace trace = run(staged("gpipe"), options);

  ASSERT_FALSE(trace.violations.empty());
  EXPECT_NE(trace.violations.front().find("w0/m0/send, part 0 to 1 from stage 0"), std::string::npos)
      << trace.violations.front();
}

}  // namespace
}  // namespace tally::pipeline_test
