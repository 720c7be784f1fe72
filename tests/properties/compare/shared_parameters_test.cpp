// Ranks that share the parameters too under the lenses: each keeps its pieces, put together whenever layers read them.
#include <gtest/gtest.h>

#include "kernels/training_step/stages.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/window/bound_stages.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::shared_parameters_test {
namespace {

using namespace three;

/// Three ranks, of which the second has two micro-batches in the first window, and the last none in the second.
Case sharing(const std::string& algorithm = "in_order", std::int64_t elements = 0, Dtype storage = Dtype::fp32) {
  Plan plan = small_plan();
  plan.precision.storage = storage;
  Case c = with_rank_option(case_of(plan), "sharding", std::string("parameters"));
  c.dealt = {{1, 2, 1}, {1, 1, 0}};
  c = with_rank_option(std::move(c), "buckets.elements", elements);
  return with_rank_option(std::move(c), "reduce.algorithm", algorithm);
}

TEST(SharedParameters, PassOfEveryAlgorithmLayoutAndStorage) {
  for (const std::string algorithm : {"in_order", "recursive_doubling", "ring"})
    for (const std::int64_t elements : {0, 1, 7})
      for (const Dtype storage : {Dtype::fp32, Dtype::bf16}) {
        const Case c = sharing(algorithm, elements, storage);
        expect_judged(c, algorithm + " " + std::to_string(elements));
      }
}

TEST(SharedParameters, AreWholeOnlyWhereLayersReadThem) {
  const Case c = sharing();
  const Trace trace = run(c);

  EXPECT_FALSE(parameters_of(c.model).empty());
  for (const std::string& p : parameters_of(c.model))
    for (const int rank : {0, 1, 2}) {
      const std::int64_t count = piece_of(c, p, static_cast<std::size_t>(rank)).count;
      for (const std::string stage : {"cast", "optimizer"}) {
        const Tensor* kept = trace.find(TapView{0, -1, stage, p, rank});
        EXPECT_EQ(kept == nullptr ? 0 : static_cast<std::int64_t>(kept->elements()), count) << stage << " " << p;
      }
      for (const std::string when : {"", "again."}) {  // the last rank has one micro-batch, and takes part at both
        const Tensor* read = trace.find(TapView{0, 1, "all_gather", when + p, rank});
        ASSERT_NE(read, nullptr) << p;
        EXPECT_EQ(read->shape, c.tensors.at(p).shape);
      }
      EXPECT_EQ(trace.find(TapView{0, -1, "gather_updated", p, rank}), nullptr);
    }
}

TEST(SharedParameters, LeaveTheBitsOfThoseThatAreNotShared) {
  Case c = sharing();
  c.recipe.clip = choice("clip", "none");
  const Case each =
      with_rank_option(with_rank_option(c, "sharding", std::string("none")), "communicate", std::string("micro_batch"));

  const Trace pieces = run(c), whole = run(each);

  EXPECT_FALSE(parameters_of(c.model).empty());
  for (const std::string& p : parameters_of(c.model))
    EXPECT_EQ(*pieces.find(TapView{1, 0, "all_gather", p, 2}), *whole.find(TapView{1, -1, "cast", p, 2})) << p;
}

TEST(SharedParameters, NameTheRankThatHoldsADamagedPiece) {
  const Case c = sharing();
  const Trace trace = run(c);

  for (const std::string tap :
       {"w0/r1/m1/all_gather/in.shard.fc1.weight", "w0/r1/m1/all_gather/fc1.weight",
        "w0/r1/m1/all_gather/again.fc1.weight", "w0/r1/m1/forward/in.fc1.weight", "w0/r1/m1/backward/in.out.weight",
        "w0/r0/cast/fc1.weight", "w1/r0/cast/in.fc1.weight", "w0/r1/optimizer/fc1.weight"}) {
    ASSERT_NE(trace.find(tap), nullptr) << tap;
    EXPECT_EQ(first_failing(checks_of(c, damaged(trace, tap, 1))), tap);
  }
}

/// The second gather is left out.
void gather_once(Run& run) {
  if (!run.behind_forward) stage::all_gather(run);
}

TEST(SharedParameters, AreGoneBetweenForwardAndBackward) {
  const Case c = sharing();
  Stages once = shipped_stages();
  once.all_gather = gather_once;
  RunOptions options;
  options.stages = &once;

  const Trace trace = run(c, options);

  const Tensor* gradient = trace.find("w0/r0/m0/backward/d.fc1.weight");
  ASSERT_NE(gradient, nullptr);
  EXPECT_TRUE(oracle::any_non_finite(*gradient)) << "backward read what was left of the parameters";
}

}  // namespace
}  // namespace tally::shared_parameters_test
