// Ranks that share the optimizer under the lenses: their pieces, put together, and what all hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "kernels/training_step/run/run_state.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::shared_optimizer_test {
namespace {

using namespace three;

/// Three ranks with a piece of every bucket.
Case sharing(const std::string& norm = "squares", std::int64_t elements = 0) {
  Case c = with_rank_option(three_ranks(), "sharding", std::string("optimizer"));
  c = with_rank_option(std::move(c), "buckets.elements", elements);
  return with_rank_option(std::move(c), "reduce.norm", norm);
}

TEST(SharedOptimizer, PassesOfEveryNormClipAndLayout) {
  for (const std::string norm : {"squares", "norms"})
    for (const std::string p : {"1", "2", "inf"})
      for (const std::int64_t elements : {0, 1, 7}) {
        Case c = sharing(norm, elements);
        c.recipe.clip.options["norm"] = p;
        expect_judged(c, norm + " " + p);
      }
}

TEST(SharedOptimizer, CutsEveryParameterOnce) {
  for (const std::int64_t elements : {0, 1, 7}) {
    const Case c = sharing("squares", elements);
    EXPECT_FALSE(parameters_of(c.model).empty());
    for (const std::string& p : parameters_of(c.model)) {
      std::int64_t next = 0;
      for (std::size_t rank = 0; rank < 3; ++rank) {
        const ShardPiece piece = piece_of(c, p, rank);
        EXPECT_TRUE(piece.count == 0 || piece.first == next) << p;
        next += piece.count;
      }
      EXPECT_EQ(next, static_cast<std::int64_t>(c.tensors.at(p).elements())) << p;
    }
  }
}

TEST(SharedOptimizer, LeavesTheBitsOfOneThatIsNotShared) {
  Case c = sharing();
  c.recipe.clip = choice("clip", "none");

  const Trace pieces = run(c), whole = run(with_rank_option(c, "sharding", std::string("none")));

  EXPECT_FALSE(parameters_of(c.model).empty());
  for (const std::string& p : parameters_of(c.model))
    for (const int rank : {0, 1, 2})
      EXPECT_EQ(*pieces.find(TapView{1, -1, "gather_updated", p, rank}),
                *whole.find(TapView{1, -1, "optimizer", p, rank}))
          << p;
}

TEST(SharedOptimizer, NamesTheRankThatHoldsADamagedPiece) {
  const Case c = sharing();
  const Trace trace = run(c);

  for (const std::string tap : {"w0/r0/overflow_check/found", "w0/r1/norm/part", "w0/r0/unscale/d.fc1.weight",
                                "w1/r1/optimizer/fc1.weight", "w1/r2/optimizer/momentum.out.bias",
                                "w0/r1/gather_updated/out.weight", "w0/r2/norm/norm", "w0/r1/clip/coefficient"}) {
    ASSERT_NE(trace.find(tap), nullptr) << tap;
    EXPECT_EQ(first_failing(checks_of(c, damaged(trace, tap, 1))), tap);
  }
}

TEST(SharedOptimizer, MissesWhatOneRankDoesNotShow) {
  const Case c = sharing();
  Trace shorter;
  const Trace trace = run(c);
  shorter.claims = trace.claims;
  for (const Tap& tap : trace.taps())
    if (tap.name.text() != "w0/r1/unscale/d.fc1.weight") shorter.add(tap.name, tap.value);

  const std::vector<TensorCheck> checks = checks_of(c, shorter);

  EXPECT_TRUE(std::ranges::any_of(checks, [](const TensorCheck& check) {
    return check.status == Status::not_run && check.stage == "unscale" && check.tap.ends_with("d.fc1.weight");
  }));
}

/// The last rank alone finds something.
void last_finds(Run& run) {
  stage::overflow_check(run);
  run.found = run.c.rank == 2;
  run.found_flag.set_scalar<std::uint32_t>(run.found ? 1 : 0);
}

TEST(SharedOptimizer, SkipsTogetherAndGathersNothing) {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.overflow_check = last_finds;
    return copy;
  }();

  const Trace trace = run(sharing(), {.stages = &stages});

  for (const int rank : {0, 1, 2}) {
    EXPECT_EQ(trace.find(TapView{0, -1, "agree", "found", rank})->integer(0), 1);
    EXPECT_EQ(trace.find(TapView{0, -1, "gather_updated", "fc1.weight", rank}), nullptr);
  }
}

TEST(SharedOptimizer, SurvivesAFile) {
  const Case c = sharing("norms", 7);
  const Trace trace = run(c);
  const auto file = std::filesystem::path(::testing::TempDir()) / "pieces.safetensors";

  write_trace(trace, file);
  const Trace read = read_trace(file, c);

  EXPECT_EQ(read.taps().size(), trace.taps().size());
  EXPECT_EQ(first_failing(checks_of(c, read)), "");
}

}  // namespace
}  // namespace tally::shared_optimizer_test
