// Ranks that add up behind every micro-batch, and divide around their sums, under the lenses.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/ranks/link.hpp"
#include "kernels/trace/trace_layout.hpp"
#include "kernels/training_step/run/run_state.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/rank_keys.hpp"
#include "properties/laws/judge.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::ranks_adding_up_test {
namespace {

using namespace three;

/// Three ranks of which the second has two micro-batches in the first window, and the last none in the second.
Case adding_up(const std::string& when, const std::string& divide, Precision precision = {}) {
  Plan plan = small_plan();
  plan.precision = precision;
  Case c = case_of(plan);
  c.dealt = {{1, 2, 1}, {1, 1, 0}};
  if (divide == "split") c = with_rank_option(std::move(c), "reduce.factor", Decimal{"1.5"});
  c = with_rank_option(std::move(c), "reduce.divide", divide);
  return with_rank_option(std::move(c), "communicate", when);
}

Precision narrow() { return {Dtype::bf16, Dtype::fp32, Dtype::fp16, Dtype::fp32}; }

TEST(RanksThatAddUp, PassWheneverTheyAddUpAndHoweverTheyDivide) {
  for (const std::string when : {"window", "micro_batch", "running_total"})
    for (const std::string divide : {"loss", "before", "after", "split", "collective", "unscale"})
      for (const Precision& precision : {Precision{}, narrow()}) {
        const Case c = adding_up(when, divide, precision);
        if (when == "running_total" && (divide == "loss" || divide == "unscale")) continue;
        ASSERT_TRUE(validate(c).empty()) << when << " " << divide << ": " << validate(c).front().found;

        const Trace trace = run(c);
        const Outcome outcome = judge(c, trace);

        EXPECT_TRUE(trace.violations.empty());
        EXPECT_EQ(outcome.status, Status::pass) << when << " " << divide << ": " << outcome.message;
        for (const TensorCheck& check : outcome.checks) EXPECT_NE(check.status, Status::not_run) << check.tap;
        for (const Tap& tap : trace.taps()) {
          const std::string name = tap.name.text();
          EXPECT_TRUE(layout_of(c, tap.name)) << name;
          EXPECT_TRUE(std::ranges::any_of(outcome.checks, [&](const auto& check) { return check.tap == name; }))
              << name;
        }
      }
}

TEST(RanksThatAddUp, NameADamagedTapOfWhatTheyAddUpBehindEachMicroBatch) {
  for (const std::string tap :
       {"w0/r0/m1/reduce/in.d.out.bias", "w0/r2/m0/reduce/wire.fc1.weight", "w0/r1/m1/reduce/reduced.fc1.bias",
        "w0/r2/m1/accumulate/buffer.out.weight", "w1/r1/m0/reduce/in.divisor", "w1/r2/unscale/in.buffer.fc1.bias"}) {
    const Case c = adding_up("micro_batch", "before");
    EXPECT_EQ(first_failing(checks_of(c, damaged(run(c), tap, 1))), tap);
  }
  for (const std::string tap : {"w0/r0/m1/reduce/in.buffer.out.bias", "w0/r2/m1/reduce/reduced.fc1.weight",
                                "w0/r1/m1/accumulate/in.buffer.fc1.bias", "w0/r1/unscale/in.buffer.fc1.bias"}) {
    const Case c = adding_up("running_total", "after");
    EXPECT_EQ(first_failing(checks_of(c, damaged(run(c), tap, 1))), tap);
  }
}

TEST(RanksThatAddUp, PassInWhateverFormatTheirSumsTravel) {
  for (const std::string wire : {"fp32", "fp16", "bf16"})
    for (const std::string when : {"window", "micro_batch", "running_total"})
      for (const std::string divide : {"before", "after", "split", "collective"})
        for (const Precision& precision : {Precision{}, narrow()}) {
          const Case c = with_rank_option(adding_up(when, divide, precision), "reduce.wire", wire);
          ASSERT_TRUE(validate(c).empty());

          const Trace trace = run(c);
          const Outcome outcome = judge(c, trace);

          EXPECT_EQ(outcome.status, Status::pass) << wire << " " << when << " " << divide << ": " << outcome.message;
          for (const TensorCheck& check : outcome.checks) EXPECT_NE(check.status, Status::not_run) << check.tap;
          const Tensor* travels = trace.find(TapView{0, when == "window" ? -1 : 0, "reduce", "wire.fc1.bias", 0});
          ASSERT_NE(travels, nullptr);
          EXPECT_EQ(name_of(travels->dtype), wire);
        }
}

TEST(RanksThatAddUp, PassAsEveryFrameworkRunsThem) {
  ASSERT_FALSE(rank_presets().empty());
  for (const RankPreset& preset : rank_presets())
    for (const std::string wire : {"buffer", "fp16"}) {
      const Case c = as_preset(with_rank_option(adding_up("window", "loss"), "reduce.wire", wire), preset);
      ASSERT_TRUE(validate(c).empty()) << preset.name;

      const Outcome outcome = judge(c, run(c));

      EXPECT_EQ(outcome.status, Status::pass) << preset.name << ": " << outcome.message;
    }
}

TEST(RanksThatAddUp, NameADamagedTapOfWhatTravelsInAnotherFormat) {
  for (const std::string tap : {"w0/r0/reduce/in.buffer.out.bias", "w0/r2/reduce/wire.fc1.weight",
                                "w0/r1/reduce/reduced.fc1.bias", "w1/r2/unscale/in.buffer.fc1.bias"}) {
    const Case c = with_rank_option(adding_up("window", "loss"), "reduce.wire", std::string("bf16"));
    EXPECT_EQ(first_failing(checks_of(c, damaged(run(c), tap, 1))), tap);
  }
}

void divides_no_more(Run& run) {
  stage::fix_factor(run);
  run.factor *= static_cast<float>(run.options.link->size());
}

TEST(RanksThatAddUp, FailWhereTheLossIsNotDividedAsTheSumIs) {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.factor = divides_no_more;
    return copy;
  }();

  const Case c = adding_up("window", "after");

  EXPECT_EQ(first_failing(checks_of(c, run(c, {.stages = &stages}))), "w0/r0/m0/loss/in.factor");
}

}  // namespace
}  // namespace tally::ranks_adding_up_test
