#include <gtest/gtest.h>

#include "reports/command_line/check/capture.hpp"

namespace tally::command_line::claims_in_short_test {
namespace {

using Lines = std::vector<std::string>;

TEST(ClaimsInShort, SaysWhatBoundsFollowFrom) {
  Claims claims;
  claims.subject = "a loop";
  claims.constants = "fp32";
  claims.tensor_cores = true, claims.tensor_core = "h100";
  claims.kernels["norm"] = {.variant = "numpy", .height = 64};
  claims.kernels["gemm"] = {.variant = "cublas", .repeats = Repeats::within_claim, .splits = 0};

  EXPECT_EQ(claims_in_short(claims),
            (Lines{"subject: a loop",
                   "recipe constants in fp32, divided by micro_batch, products on tensor cores, of the generation h100",
                   "gemm: cublas, bits differ from run to run, any order of additions, any split",
                   "norm: numpy, same bits each time, height 64"}));
}

TEST(ClaimsInShort, AreBounded) {
  Claims claims;
  claims.subject = std::string(100'000, 'x');
  for (int i = 0; i < 1000; ++i) claims.kernels[std::to_string(i) + std::string(10'000, 'x')].variant = "v";
  const Lines lines = claims_in_short(claims);
  EXPECT_EQ(lines.back(), "and 900 more operations");
  std::size_t all = 0;
  for (const std::string& line : lines) all += line.size();
  EXPECT_LT(all, 100'000u);
}

}  // namespace
}  // namespace tally::command_line::claims_in_short_test
