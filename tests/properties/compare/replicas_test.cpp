// Groups of ranks that each keep all pieces under the lenses: a sum within each group, then one over the groups.
#include <gtest/gtest.h>

#include "oracle/case/sharding.hpp"
#include "properties/laws/judge.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::replicas_test {
namespace {

using namespace three;

/// Six ranks in groups of `sharers`; the last has nothing in the first window, the second two micro-batches.
Case in_groups_of(std::size_t sharers, const std::string& algorithm = "ring") {
  Plan plan = small_plan();
  plan.windows = {{2, 1, 3, 2, 1, 1}, {1, 2, 1, 1, 2, 1}};
  Case c = case_of(plan);
  c.dealt = {{1, 2, 1, 1, 1, 0}, {1, 1, 1, 1, 1, 1}};
  c = with_rank_option(std::move(c), "sharding", std::string("gradients"));
  c = with_rank_option(std::move(c), "replicas", static_cast<std::int64_t>(6 / sharers));
  return with_rank_option(std::move(c), "reduce.algorithm", algorithm);
}

TEST(Replicas, PassOfEveryGroupAlgorithmWireAndDivision) {
  for (const std::size_t sharers : {1u, 2u, 3u})
    for (const std::string algorithm : {"in_order", "recursive_doubling", "ring"})
      for (const std::string wire : {"buffer", "bf16"})
        for (const std::string divide : {"loss", "before", "after", "collective", "unscale"}) {
          Case c = with_rank_option(in_groups_of(sharers, algorithm), "reduce.wire", wire);
          c = with_rank_option(std::move(c), "reduce.divide", divide);
          expect_judged(c, std::to_string(sharers) + " " + algorithm + " " + wire + " " + divide);
        }
}

TEST(Replicas, ShareTheParametersTooWithinTheirGroup) {
  const Case c = with_rank_option(in_groups_of(3), "sharding", std::string("parameters"));

  const Trace trace = run(c);

  EXPECT_EQ(judge(c, trace).status, Status::pass);
  std::size_t compared = 0;
  for (const std::string& p : parameters_of(c.model))
    for (const int rank : {0, 1, 2}) {
      const Tensor *one = trace.find(TapView{1, -1, "optimizer", p, rank}),
                   *other = trace.find(TapView{1, -1, "optimizer", p, rank + 3});
      ASSERT_EQ(one == nullptr, other == nullptr);
      if (one == nullptr) continue;
      EXPECT_EQ(*one, *other) << p;
      ++compared;
    }
  EXPECT_GT(compared, 0u);
}

TEST(Replicas, NameTheRankThatHoldsADamagedPiece) {
  const Case c = in_groups_of(3);
  const Trace trace = run(c);

  for (const std::string tap : {"w0/r4/m0/reduce/in.d.fc1.weight", "w0/r3/m0/reduce/reduced.fc1.weight",
                                "w0/r3/m1/accumulate/buffer.fc1.weight", "w0/r3/reduce/in.buffer.fc1.weight",
                                "w0/r3/reduce/reduced.fc1.weight", "w1/r3/optimizer/fc1.weight"}) {
    ASSERT_NE(trace.find(tap), nullptr) << tap;
    EXPECT_EQ(first_failing(checks_of(c, damaged(trace, tap, 1))), tap);
  }
}

TEST(Replicas, AddEachGroupFirstAndTheGroupsThen) {
  const Case c = in_groups_of(2);

  EXPECT_EQ(ranks_of_sum(c, 3, 0), (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(ranks_of_sum(c, 3, -1), (std::vector<std::size_t>{0, 2, 4}));
  for (const std::string& p : parameters_of(c.model))
    for (const std::size_t rank : {0u, 1u}) {
      EXPECT_EQ(piece_of(c, p, rank).first, piece_of(c, p, rank + 4).first);
      EXPECT_EQ(piece_of(c, p, rank).count, piece_of(c, p, rank + 4).count);
    }
}

TEST(Replicas, AreRefusedWhereTheyCannotStand) {
  EXPECT_EQ(refused_at(with_rank_option(in_groups_of(2), "replicas", std::int64_t{4})), "$.execution.ranks.replicas");
  EXPECT_EQ(refused_at(with_rank_option(in_groups_of(2), "sharding", std::string("optimizer"))),
            "$.execution.ranks.replicas");
  Case split = with_rank_option(in_groups_of(2), "reduce.divide", std::string("split"));
  split = with_rank_option(std::move(split), "reduce.factor", Decimal{"2"});
  EXPECT_EQ(refused_at(split), "$.execution.ranks.reduce.divide");
}

}  // namespace
}  // namespace tally::replicas_test
