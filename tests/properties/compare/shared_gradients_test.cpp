// Ranks that share the sums of gradients and the buffers under the lenses.
#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/case/sharding.hpp"
#include "properties/laws/judge.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::shared_gradients_test {
namespace {

using namespace three;

/// Three ranks, of which the second has two micro-batches in the first window, and the last none in the second.
Case sharing(const std::string& algorithm = "in_order", std::int64_t elements = 0) {
  Case c = with_rank_option(three_ranks(), "sharding", std::string("gradients"));
  c.dealt = {{1, 2, 1}, {1, 1, 0}};
  c = with_rank_option(std::move(c), "buckets.elements", elements);
  return with_rank_option(std::move(c), "reduce.algorithm", algorithm);
}

TEST(SharedGradients, PassOfEveryAlgorithmLayoutAndWire) {
  for (const std::string algorithm : {"in_order", "recursive_doubling", "ring"})
    for (const std::int64_t elements : {0, 1, 7})
      for (const std::string wire : {"buffer", "bf16"}) {
        const Case c = with_rank_option(sharing(algorithm, elements), "reduce.wire", wire);
        expect_judged(c, algorithm + " " + std::to_string(elements));
      }
}

TEST(SharedGradients, KeepEachRanksPiecesOfTheBuffersAlone) {
  const Case c = sharing();
  const Trace trace = run(c);

  EXPECT_FALSE(parameters_of(c.model).empty());
  for (const std::string& p : parameters_of(c.model))
    for (const std::size_t rank : {0u, 1u, 2u})
      for (const std::string tensor : {"reduced.", "buffer."}) {
        const std::string stage = tensor == "buffer." ? "accumulate" : "reduce";
        const Tensor* kept = trace.find(TapView{0, 1, stage, tensor + p, static_cast<int>(rank)});
        const std::int64_t count = piece_of(c, p, rank).count;
        EXPECT_EQ(kept == nullptr ? 0 : static_cast<std::int64_t>(kept->elements()), count) << tensor << p;
      }
}

TEST(SharedGradients, LeaveTheBitsOfThoseThatAreNotShared) {
  for (const std::string accumulate : {"", "kahan"}) {
    Case c = sharing();
    c.recipe.clip = choice("clip", "none");
    if (!accumulate.empty()) c.execution.kernels["accumulate"] = accumulate;
    const Case each = with_rank_option(with_rank_option(c, "sharding", std::string("none")), "communicate",
                                       std::string("micro_batch"));

    const Trace pieces = run(c), whole = run(each);

    EXPECT_FALSE(parameters_of(c.model).empty());
    for (const std::string& p : parameters_of(c.model))
      for (const int rank : {0, 1, 2})
        EXPECT_EQ(*pieces.find(TapView{1, -1, "gather_updated", p, rank}),
                  *whole.find(TapView{1, -1, "optimizer", p, rank}))
            << p;
  }
}

TEST(SharedGradients, NameTheRankThatHoldsADamagedPiece) {
  const Case c = sharing();
  const Trace trace = run(c);

  for (const std::string tap :
       {"w0/r0/m1/reduce/in.d.fc1.weight", "w0/r0/m0/reduce/reduced.fc1.weight",
        "w0/r0/m1/accumulate/buffer.fc1.weight", "w0/r2/m1/accumulate/in.d.out.bias", "w1/r1/optimizer/fc1.weight"}) {
    ASSERT_NE(trace.find(tap), nullptr) << tap;
    EXPECT_EQ(first_failing(checks_of(c, damaged(trace, tap, 1))), tap);
  }
}

TEST(SharedGradients, AreDiagnosedAtASumToWhichTheRankBringsNothing) {
  Case c = sharing();
  c.dealt = {{1, 2, 1}, {2, 0, 0}};
  const Trace trace = run(c);
  const std::string tap = "w1/r2/m0/accumulate/in.d.out.bias";
  ASSERT_NE(trace.find(tap), nullptr);

  const Outcome outcome = judge(c, damaged(trace, tap, 1));

  EXPECT_EQ(outcome.status, Status::fail);
  EXPECT_EQ(first_failing(outcome.checks), tap);
}

TEST(SharedGradients, StandBesideNeitherTotalsNorProductsIntoTheBuffer) {
  EXPECT_EQ(refused_at(with_rank_option(with_rank_option(sharing(), "communicate", std::string("running_total")),
                                        "reduce.divide", std::string("after"))),
            "$.execution.ranks.communicate");
  Case products = sharing();
  products.execution.kernels["linear.weight_gradient"] = "into_buffer";
  EXPECT_EQ(refused_at(products), "$.execution.ranks.sharding");
}

}  // namespace
}  // namespace tally::shared_gradients_test
