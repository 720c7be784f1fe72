#include <gtest/gtest.h>

#include "kernels/training_step/run/run.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lab/sweeps/drift.hpp"

namespace tally::stage_rounding_test {
namespace {

TEST(InUlps, CountsUnitsInTheLastPlaceOfTheFormat) {
  EXPECT_EQ(in_ulps(0x1p-23, 1.5, Dtype::fp32), 1);
  EXPECT_EQ(in_ulps(0x1p-11, 1, Dtype::fp16), 0.5);
  EXPECT_EQ(in_ulps(0x1p-7, 2, Dtype::bf16), 0.5);
  EXPECT_EQ(in_ulps(0x1p-24, 0x1p-20, Dtype::fp16), 1);  // subnormal
  EXPECT_EQ(in_ulps(0x1p-24, 0, Dtype::fp16), 1);
}

std::map<std::string, StageRounding> roundings(Dtype storage) {
  const Case c = sweep_case(sweep_problems().front(), storage, 8, 2, 3);
  const Trace trace = run(c);
  return stage_roundings(trace, local_lens(c, trace));
}

TEST(StageRounding, FindsEveryStageThatComputesInsideItsBound) {
  const auto stages = roundings(Dtype::fp16);

  for (const char* stage : {"cast", "forward", "loss", "backward", "accumulate", "unscale", "optimizer"}) {
    ASSERT_TRUE(stages.contains(stage)) << stage;
    EXPECT_LE(stages.at(stage).worst_ratio, 1) << stage;
  }
  EXPECT_GT(stages.at("cast").ulps, 0);
  EXPECT_LE(stages.at("cast").ulps, 0.5);
}

TEST(StageRounding, KnowsThatACopyInTheSameFormatRoundsNothing) {
  const auto stages = roundings(Dtype::fp32);

  EXPECT_EQ(stages.at("cast").relative_error, 0);
  EXPECT_GT(stages.at("accumulate").relative_error, 0);
}

TEST(SweepCase, IsTheSameInEveryFormat) {
  ASSERT_FALSE(sweep_problems().empty());
  for (const SweepProblem& problem : sweep_problems()) {
    const Case wide = sweep_case(problem, Dtype::fp32, 8, 2, 3);
    for (const Dtype storage : {Dtype::fp16, Dtype::bf16}) {
      const Case narrow = sweep_case(problem, storage, 8, 2, 3);
      ASSERT_EQ(narrow.tensors.size(), wide.tensors.size());
      for (const auto& [name, tensor] : wide.tensors) {
        for (std::size_t i = 0; i < tensor.elements(); ++i)
          ASSERT_EQ(narrow.tensors.at(name).value(i), tensor.value(i)) << problem.name << " " << name;
      }
    }
  }
}

}  // namespace
}  // namespace tally::stage_rounding_test
