// What frameworks do with several ranks, as keys of a case.
#include <gtest/gtest.h>

#include "oracle/case/rank_keys.hpp"

namespace tally::rank_presets_test {
namespace {

Case ranks(std::size_t count, Dtype buffer = Dtype::fp32) {
  Case c;
  c.precision.accumulate = buffer;
  c.windows = {std::vector<std::int64_t>(count, 1)};
  c.dealt = {std::vector<std::int64_t>(count, 1)};
  return c;
}

double factor_of(std::size_t count) {
  const Case c = as_preset(ranks(count, Dtype::fp16), *find_rank_preset("fsdp2"));
  return std::get<Decimal>(rank_option(c, "reduce.factor")).to_double();
}

TEST(RankPresets, SayHowEachFrameworkDividesAndShares) {
  struct Expected {
    const char *name, *divide, *sharding;
  };
  for (const Expected& each :
       {Expected{"ddp", "before", "none"}, Expected{"deepspeed-allreduce", "after", "none"},
        Expected{"deepspeed-scatter", "before", "gradients"}, Expected{"fsdp2", "collective", "parameters"},
        Expected{"megatron", "before", "optimizer"}, Expected{"megatron-tokens", "unscale", "optimizer"}}) {
    const RankPreset* preset = find_rank_preset(each.name);
    ASSERT_NE(preset, nullptr) << each.name;
    const Case c = as_preset(ranks(4), *preset);
    EXPECT_EQ(rank_word(c, "reduce.divide"), each.divide) << each.name;
    EXPECT_EQ(rank_word(c, "sharding"), each.sharding) << each.name;
  }
  EXPECT_EQ(find_rank_preset("horovod"), nullptr);
}

TEST(RankPresets, DivideFp16OnBothSidesOfTheSum) {
  EXPECT_EQ(factor_of(2), 2);
  EXPECT_EQ(factor_of(3), 2);
  EXPECT_EQ(factor_of(4), 2);
  EXPECT_EQ(factor_of(6), 4);
  EXPECT_EQ(factor_of(7), 2);
  EXPECT_EQ(factor_of(8), 4);
  EXPECT_EQ(factor_of(64), 8);
  const Case by_wire = with_rank_option(ranks(4), "reduce.wire", std::string("fp16"));
  EXPECT_EQ(rank_word(as_preset(by_wire, *find_rank_preset("fsdp2")), "reduce.divide"), "split");
}

TEST(RankPresets, LeaveNothingOfAnotherOneAndKeepWhatTheyDoNotSay) {
  Case c = with_rank_option(ranks(4, Dtype::fp16), "reduce.algorithm", std::string("ring"));
  c = as_preset(as_preset(std::move(c), *find_rank_preset("fsdp2")), *find_rank_preset("ddp"));

  EXPECT_EQ(c.execution.ranks.options.count("reduce.factor"), 0u);
  EXPECT_EQ(rank_word(c, "sharding"), "none");
  EXPECT_EQ(rank_word(c, "reduce.algorithm"), "ring");
}

}  // namespace
}  // namespace tally::rank_presets_test
