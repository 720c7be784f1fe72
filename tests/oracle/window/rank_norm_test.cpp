// The norm over pieces of ranks, worked by hand, and its bounds beside what is left of drawn numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "oracle/case/rank_keys.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/window/bound_stages.hpp"
#include "oracle/window/rank_stages.hpp"

namespace tally::oracle::rank_norm_test {
namespace {

Case clipping(const std::string& norm, const std::string& word) {
  Case c;
  c.recipe.clip = {"global_norm", {{"max_norm", Decimal{"1"}}, {"norm", norm}}};
  set_rank_option(c.execution, "sharding", std::string("optimizer"));
  set_rank_option(c.execution, "reduce.norm", word);
  return c;
}

TEST(RankNorm, IsThatOfAllPieces) {
  EXPECT_EQ(rounded_norm(clipping("2", "squares"), {{9, 16, 0}}), 5);
  EXPECT_EQ(rounded_norm(clipping("2", "norms"), {{3, 4, 0}}), 5);
  EXPECT_EQ(rounded_norm(clipping("1", "squares"), {{3, 4, 2}}), 9);
  EXPECT_EQ(rounded_norm(clipping("inf", "squares"), {{3, 7, 2}}), 7);
  EXPECT_TRUE(std::isnan(rounded_norm(clipping("inf", "norms"), {{3, NAN, 2}})));
}

TEST(RankNorm, OverflowsWhereItsSquaresDo) {
  EXPECT_TRUE(std::isinf(rounded_norm(clipping("2", "norms"), {{0x1p70f, 0x1p70f}})));
  EXPECT_EQ(rounded_norm(clipping("1", "norms"), {{0x1p70f, 0x1p70f}}), 0x1p71f);
}

/// One rank's piece, summed one element after another in fp32.
float part_left(const Case& c, const std::vector<float>& piece) {
  float sum = 0;
  for (const float g : piece) sum += g * g;
  return hands_over_squares(c) ? sum : std::sqrt(sum);
}

Tensor column(const std::vector<float>& values) {
  Tensor all(Dtype::fp32, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) all.set(i, static_cast<double>(values[i]));
  return all;
}

TEST(RankNorm, StaysInsideItsBound) {
  Claims claims;
  const Declared in = declared(Precision{}, claims);
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const std::string word : {"squares", "norms"})
    for (const auto& [stages, ranks] :
         {std::pair{1u, 1u}, {1u, 2u}, {1u, 3u}, {1u, 5u}, {1u, 8u}, {3u, 1u}, {4u, 3u}}) {
      const Case c = clipping("2", word);
      double worst = 0;
      for (int draw = 0; draw < 300; ++draw) {
        PartsByStage<float> left(stages);
        PartsByStage<Expected> parts(stages);
        long double squares = 0;
        for (std::size_t at = 0; at < stages * ranks; ++at) {
          std::vector<float> piece(1 + at % 4);
          for (float& g : piece) {
            g = normal(random);
            squares += static_cast<long double>(g) * g;
          }
          left[at / ranks].push_back(part_left(c, piece));
          parts[at / ranks].push_back(norm_part(in, c, {{"w", as_read(column(piece))}}));
        }
        const Expected bound = norm_of_parts(in, c, parts);
        const long double off = std::fabs(rounded_norm(c, left) - std::sqrt(squares));
        EXPECT_LE(off, bound.e(0, 0)) << word << " of " << ranks << " on " << stages;
        worst = std::max(worst, static_cast<double>(off) / bound.e(0, 0));
      }
      EXPECT_TRUE(stages * ranks < 3 || worst > 0.1) << word << " of " << ranks << " on " << stages << ": " << worst;
    }
}

TEST(RankNorm, OfNoPieceIsZero) {
  Claims claims;
  const Expected part = norm_part(declared(Precision{}, claims), clipping("2", "squares"), {});

  EXPECT_EQ(part.v(0, 0), 0);
  EXPECT_EQ(part.e(0, 0), 0);
}

}  // namespace
}  // namespace tally::oracle::rank_norm_test
