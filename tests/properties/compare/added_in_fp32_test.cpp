// Sums over ranks whose additions are made in fp32, on a wire of 16 bits, under the lenses.
#include <gtest/gtest.h>

#include "tests/properties/compare/three_ranks.hpp"

namespace tally::added_in_fp32_test {
namespace {

using namespace three;

Case adding(const std::string& algorithm, const std::string& in) {
  Case c = with_rank_option(three_ranks(algorithm), "reduce.wire", std::string("bf16"));
  return with_rank_option(std::move(c), "reduce.accumulate", in);
}

TEST(AddedInFp32, PassOfBothAlgorithmsThatKeepPartialSums) {
  for (const std::string algorithm : {"in_order", "all_to_all"})
    for (const std::string sharding : {"none", "optimizer", "parameters"}) {
      const Case c = with_rank_option(adding(algorithm, "fp32"), "sharding", sharding);
      expect_judged(c, algorithm + " " + sharding);
    }
}

TEST(AddedInFp32, FailWhereEveryAdditionWasRounded) {
  const Case once = adding("all_to_all", "fp32");

  EXPECT_NE(first_failing(checks_of(once, run(adding("all_to_all", "wire")))), "");
  EXPECT_EQ(first_failing(checks_of(once, run(once))), "");
}

TEST(AddedInFp32, AreRefusedWherePartialSumsTravelOrTheWireIsWide) {
  EXPECT_EQ(refused_at(adding("ring", "fp32")), "$.execution.ranks.reduce.accumulate");
  EXPECT_EQ(refused_at(with_rank_option(adding("in_order", "fp32"), "reduce.wire", std::string("fp32"))),
            "$.execution.ranks.reduce.accumulate");
}

}  // namespace
}  // namespace tally::added_in_fp32_test
