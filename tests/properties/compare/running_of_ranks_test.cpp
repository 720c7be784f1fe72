// Ranks that normalise by their own micro-batches under the lenses: whose running values a window begins with.
#include <gtest/gtest.h>

#include <algorithm>

#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::running_of_ranks_test {
namespace {

using namespace three;

/// Three ranks; the last has nothing in the second window, the first nothing in the third.
Case normalised(const std::string& running, Dtype master = Dtype::fp32) {
  Plan plan = small_plan();
  plan.hidden.insert(
      plan.hidden.begin() + 1,
      layer("batch_norm", "bn", {{"statistics", std::string("micro_batch")}, {"running", std::string("first_rank")}}));
  plan.windows = {{2, 3, 3, 2}, {4, 2}, {2, 3}};
  plan.precision.master = master;
  Case c = case_of(plan);
  for (Layer& each : c.model.layers)
    if (each.kind == "batch_norm") each.options["running"] = running;
  c.dealt = {{1, 2, 1}, {1, 1, 0}, {0, 1, 1}};
  return with_rank_option(std::move(c), "reduce.algorithm", std::string("ring"));
}

Trace without(const Trace& trace, const std::string& part) {
  Trace other;
  other.claims = trace.claims;
  for (const Tap& tap : trace.taps())
    if (tap.name.text().find(part) == std::string::npos) other.add(tap.name, tap.value);
  return other;
}

TEST(RunningOfRanks, PassWhoseverTheyAre) {
  for (const std::string running : {"first_rank", "each"})
    for (const Dtype master : {Dtype::fp32, Dtype::bf16})
      for (const char* const sharding : {"none", "optimizer", "gradients", "parameters"}) {
        const Case c = with_rank_option(normalised(running, master), "sharding", std::string(sharding));
        expect_judged(c, running + " " + sharding);
      }
}

TEST(RunningOfRanks, JudgeEveryTap) {
  for (const std::string running : {"first_rank", "each"}) {
    const Case c = normalised(running);
    expect_every_tap_checked(c);
  }
}

TEST(RunningOfRanks, BeginWithTheFirstRanksOrGoOnWithTheirOwn) {
  const Trace first = run(normalised("first_rank")), each = run(normalised("each"));
  const auto begins = [](const Trace& trace, const char* tap) { return *trace.find(tap); };

  const Tensor left_by_first = begins(first, "w0/r0/m0/running_stats/bn.running_mean");
  const Tensor left_by_second = begins(first, "w0/r1/m1/running_stats/bn.running_mean");
  EXPECT_FALSE(left_by_first == left_by_second);
  EXPECT_EQ(begins(first, "w1/r1/m0/running_stats/in.bn.running_mean"), left_by_first);
  EXPECT_EQ(begins(first, "w1/r2/running_stats/broadcast.bn.running_mean"), left_by_first);
  EXPECT_EQ(begins(each, "w1/r1/m0/running_stats/in.bn.running_mean"), left_by_second);
  EXPECT_EQ(each.find("w1/r2/running_stats/broadcast.bn.running_mean"), nullptr);
  EXPECT_EQ(begins(first, "w0/r0/m0/forward/bn.y"), begins(each, "w0/r0/m0/forward/bn.y"));
}

TEST(RunningOfRanks, AreNamedWithTheRankThatHoldsOthers) {
  const Case c = normalised("first_rank");
  const Trace trace = run(c);

  for (const std::string tap :
       {"w1/r2/running_stats/broadcast.bn.running_mean", "w1/r1/running_stats/broadcast.bn.running_var",
        "w1/r0/running_stats/broadcast.bn.running_mean", "w2/r0/running_stats/in.broadcast.bn.running_mean",
        "w1/r1/m0/running_stats/in.bn.running_var", "w0/r1/m1/running_stats/bn.running_mean",
        "w0/r2/m0/forward/bn.mean", "w1/r1/m0/backward/d.bn.x"})
    EXPECT_EQ(first_failing(checks_of(c, damaged(trace, tap, 1))), tap);
}

/// The steps of one are the bits of the other but for what stands under running values.
TEST(RunningOfRanks, ChangeNoParameter) {
  const Trace first = run(normalised("first_rank")), each = run(normalised("each"));

  std::size_t compared = 0;
  for (const Tap& tap : each.taps())
    if (tap.name.stage != "running_stats") {
      EXPECT_EQ(*first.find(tap.name.view()), tap.value) << tap.name.text();
      ++compared;
    }
  EXPECT_GT(compared, 0u);
}

TEST(RunningOfRanks, OfTheOtherKindFail) {
  const Trace each = run(normalised("each"));

  const std::vector<TensorCheck> checks = checks_of(normalised("first_rank"), each);

  const auto wrong = std::ranges::find_if(
      checks, [](const TensorCheck& check) { return check.lens == "end_to_end" && check.status == Status::fail; });
  ASSERT_NE(wrong, checks.end());
  EXPECT_EQ(wrong->tap, "w1/r1/m0/running_stats/bn.running_mean");
}

/// What the first rank handed over is then not known: no number of it is wrong, and none is right.
TEST(RunningOfRanks, AreNotAccusedWhereACaptureDoesNotShowWhatWasHandedOver) {
  const Case c = normalised("first_rank");
  const Trace trace = without(without(run(c), "broadcast."), "r0/m0/running_stats/");

  const std::vector<TensorCheck> checks = hard_lenses(c, trace, Grouping::inferred).checks;

  EXPECT_EQ(first_failing(checks), "");
}

TEST(RunningOfRanks, StandUnderTheNameOfWhatLeftThemWithoutTaps) {
  for (const std::string running : {"first_rank", "each"}) {
    const Case c = normalised(running);
    const Trace all = run(c), last = run(c, {.taps = false});
    const char* const of_last_rank = "w2/r2/m0/running_stats/bn.running_mean";
    const std::string of_first =
        running == "each" ? "w1/r0/m0/running_stats/bn.running_mean" : "w2/r0/running_stats/broadcast.bn.running_mean";

    for (const std::string& tap : {std::string(of_last_rank), of_first}) {
      ASSERT_NE(last.find(tap), nullptr) << tap;
      EXPECT_EQ(*last.find(tap), *all.find(tap)) << tap;
    }
  }
}

TEST(RunningOfRanks, SurviveAFile) {
  const Case c = normalised("first_rank");
  expect_survives_a_file(c, "running_of_ranks.safetensors");
}

}  // namespace
}  // namespace tally::running_of_ranks_test
