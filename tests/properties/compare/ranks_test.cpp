// Ranks under the lenses: what is right passes, and what is wrong is named with its rank.
#include "oracle/case/ranks.hpp"

#include <gtest/gtest.h>

#include "kernels/ranks/link.hpp"
#include "kernels/training_step/run/run_state.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/rank_keys.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "properties/laws/judge.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::ranks_test {
namespace {

using namespace three;

TEST(RanksUnderTheLenses, PassByEveryAlgorithm) {
  for (const std::string algorithm : {"in_order", "recursive_doubling", "ring"}) {
    const Case c = three_ranks(algorithm);
    ASSERT_TRUE(validate(c).empty());

    const Trace trace = run(c);
    const Outcome outcome = judge(c, trace);

    EXPECT_TRUE(trace.violations.empty());
    EXPECT_EQ(outcome.status, Status::pass) << algorithm << ": " << outcome.message;
    for (const TensorCheck& check : outcome.checks) EXPECT_NE(check.status, Status::not_run) << check.tap;
  }
}

TEST(RanksUnderTheLenses, JudgeEveryTapOfEveryRank) {
  const Case c = three_ranks();
  expect_every_tap_checked(c);
}

TEST(RanksUnderTheLenses, AreAGroupOfOneToo) {
  Case c = case_of(small_plan());
  c.execution.ranks.kind = "ranks";

  const Trace trace = run(c), alone = run(case_of(small_plan()));

  EXPECT_EQ(judge(c, trace).status, Status::pass) << judge(c, trace).message;
  EXPECT_NE(trace.find("w0/reduce/reduced.fc1.weight"), nullptr);
  EXPECT_EQ(*trace.find("w1/optimizer/fc1.weight"), *alone.find("w1/optimizer/fc1.weight"));
}

TEST(RanksUnderTheLenses, NameTheRankAndTheStageOfADamagedTap) {
  const Case c = three_ranks();
  const Trace trace = run(c);

  for (const std::string tap :
       {"w0/r1/m1/forward/fc1.y", "w0/r2/m0/accumulate/buffer.out.bias", "w1/r2/reduce/in.buffer.fc1.weight",
        "w0/r0/reduce/reduced.out.weight", "w0/r1/agree/found", "w1/r1/optimizer/fc1.bias"})
    EXPECT_EQ(first_failing(checks_of(c, damaged(trace, tap, 1))), tap);
}

TEST(RanksUnderTheLenses, FailWhereAnotherOrderOfAdditionLeftOtherBits) {
  const Case ring = three_ranks("ring"), in_order = three_ranks("in_order");
  Trace trace = run(in_order);
  trace.claims = run(ring).claims;

  const std::vector<TensorCheck> checks = checks_of(ring, trace);

  const TensorCheck* failure = first_failure(checks);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->stage, "reduce");
  EXPECT_EQ(failure->failure, FailureClass::order) << failure->tap << " " << failure->error << " " << failure->bound;
}

TEST(RanksUnderTheLenses, MustAgreeThoughBothLieInsideTheirBounds) {
  const Case c = three_ranks();
  Trace trace = run(c), other;
  other.claims = trace.claims;
  for (const Tap& tap : trace.taps()) {
    Tensor value = tap.value;
    const bool norm =
        tap.name.rank == 2 && tap.name.window == 0 && (tap.name.tensor == "norm" || tap.name.tensor == "in.norm");
    if (norm) value.set_bits(0, value.bits(0) + 1);
    other.add(tap.name, std::move(value));
  }

  const std::vector<TensorCheck> checks = checks_of(c, other);

  const TensorCheck* failure = first_failure(checks);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->tap, "w0/r2/norm/norm");
  EXPECT_EQ(failure->failure, FailureClass::logic);
}

void rank_one_leaves(Run& run) {
  if (run.options.link->rank() == 1) return;
  stage::reduce(run);
}

TEST(RanksUnderTheLenses, NameWhoWaitsForWhomInADeadlock) {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.reduce = rank_one_leaves;
    return copy;
  }();

  const Trace trace = run(three_ranks("in_order"), {.stages = &stages});

  ASSERT_FALSE(trace.violations.empty());
  EXPECT_EQ(trace.violations.front(),
            "deadlock: rank 0 waits for w0/reduce, bucket 0 from rank 1, which waits for w0/agree from rank 0");
}

TEST(RanksUnderTheLenses, DivideAsTheirNormalisationSays) {
  Plan plan = small_plan();
  plan.recipe.loss_scale = choice("loss_scale", "none");
  Case c = case_of(plan);
  c.dealt = {{1, 2, 1}, {1, 1, 0}};  // rows 2; 1, 3; 2, each of which counts
  const auto factor = [&](Normalisation normalisation, const char* tap) {
    c.normalisation = normalisation;
    const Trace trace = run(c);
    EXPECT_EQ(judge(c, trace).status, Status::pass) << name_of(normalisation) << ": " << judge(c, trace).message;
    return static_cast<float>(trace.find(tap)->value(0));
  };
  const char* const second_of_rank_1 = "w0/r1/m1/loss/in.factor";

  EXPECT_EQ(factor(Normalisation::window_items, second_of_rank_1), 1.0f / 8);
  EXPECT_EQ(factor(Normalisation::rank_means, second_of_rank_1), 1.0f / (3 * 4));
  EXPECT_EQ(factor(Normalisation::mean_of_means, second_of_rank_1), 1.0f / (3 * 2 * 3));
  EXPECT_EQ(factor(Normalisation::sum, second_of_rank_1), 1.0f);
  EXPECT_EQ(factor(Normalisation::rank_means, "w1/r1/m0/loss/in.factor"), 1.0f / (2 * 2));
}

void rank_two_finds(Run& run) {
  stage::overflow_check(run);
  run.found = run.options.link->rank() == 2;
  run.found_flag.set_scalar<std::uint32_t>(run.found ? 1 : 0);
}

TEST(RanksUnderTheLenses, AgreeOnWhatOneAloneFound) {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.overflow_check = rank_two_finds;
    return copy;
  }();

  const Trace trace = run(three_ranks(), {.stages = &stages});

  for (const int rank : {0, 1, 2}) {
    EXPECT_EQ(trace.find(TapView{0, -1, "agree", "in.found", rank})->integer(0), rank == 2);
    EXPECT_EQ(trace.find(TapView{0, -1, "agree", "found", rank})->integer(0), 1);
    EXPECT_EQ(trace.find(TapView{0, -1, "optimizer", "fc1.weight", rank}), nullptr);
  }
}

TEST(RanksUnderTheLenses, AreJudgedAlikeOnlyWhereAllTheyHoldBehindTheSumIsAlike) {
  const Case c = three_ranks();
  const Trace trace = run(c);
  const auto alike = [&](const std::string& tap, int window) {
    const Trace other = tap.empty() ? trace : damaged(trace, tap, 1);
    const RanksOfTrace ranks(c, other);
    return same_behind_sum(ranks.traces[0], ranks.traces[1], window);
  };
  Trace shorter;
  for (const Tap& tap : trace.taps())
    if (tap.name.text() != "w0/r1/norm/norm") shorter.add(tap.name, tap.value);
  const RanksOfTrace cut(c, shorter);

  EXPECT_TRUE(alike("", 0));
  EXPECT_TRUE(alike("w0/r1/m1/forward/fc1.y", 0));
  EXPECT_FALSE(alike("w0/r1/optimizer/fc1.bias", 0));
  EXPECT_TRUE(alike("w0/r1/optimizer/fc1.bias", 1));
  EXPECT_FALSE(same_behind_sum(cut.traces[0], cut.traces[1], 0));
  EXPECT_FALSE(same_behind_sum(cut.traces[1], cut.traces[0], 0));
}

TEST(RanksUnderTheLenses, KeepTheirBitsInAnyArrival) {
  const Case c = three_ranks();
  const Trace trace = run(c), other = run(with_rank_option(c, "arrival", std::int64_t{9}));

  EXPECT_FALSE(trace.taps().empty());
  for (const Tap& tap : trace.taps()) EXPECT_EQ(*other.find(tap.name.view()), tap.value) << tap.name.text();
}

TEST(RanksUnderTheLenses, SurviveAFile) {
  const Case c = three_ranks();
  expect_survives_a_file(c, "ranks.safetensors");
}

}  // namespace
}  // namespace tally::ranks_test
