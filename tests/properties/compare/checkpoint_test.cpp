// Ranks whose number changes, under the lenses: what one generation leaves, and what the next goes on from.
#include "kernels/training_step/ranks/checkpoint.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "kernels/training_step/stages.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "properties/lenses/walk.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::checkpoint_test {
namespace {

using namespace three;

using Dealt = std::vector<std::vector<std::int64_t>>;

/// The windows of three ranks dealt otherwise.
Case changing(const std::string& sharding = "none", const Dealt& dealt = {{1, 2, 1}, {1, 1}}) {
  Case c = three_ranks();
  c.dealt = dealt;
  return with_rank_option(std::move(c), "sharding", sharding);
}

TEST(Checkpoint, PassesOfEverySharingAndNumber) {
  for (const std::string sharding : {"none", "optimizer", "gradients", "parameters"})
    for (const Dealt& dealt :
         {Dealt{{1, 2, 1}, {1, 1}}, Dealt{{3, 1}, {0, 1, 0, 1}}, Dealt{{4}, {0, 0, 2}}, Dealt{{1, 1, 1, 1, 0}, {2}}})
      for (const std::int64_t elements : {0, 1})
        expect_judged(with_rank_option(changing(sharding, dealt), "buckets.elements", elements),
                      sharding + " " + std::to_string(dealt[0].size()) + " then " + std::to_string(dealt[1].size()));
}

TEST(Checkpoint, IsWalkedByTheEndToEndLensAlone) {
  for (const Case& c : {changing("optimizer"), three_ranks()}) {
    const Trace trace = run(c);
    const std::vector<TensorCheck> alone = end_to_end_lens(c, trace);

    EXPECT_EQ(first_failing(alone), "");
    std::size_t of_both = 0;
    for (const TensorCheck& check : checks_of(c, trace)) of_both += check.lens == "end_to_end";
    EXPECT_GT(of_both, 0u);
    EXPECT_EQ(alone.size(), of_both);
    const std::string tap = "w0/r1/reduce/reduced.fc1.weight";
    EXPECT_EQ(first_failing(end_to_end_lens(c, damaged(trace, tap, 1))), tap);
  }
}

TEST(Checkpoint, PassesOfReplicasAndOffloadedSteps) {
  const Case four_then_two =
      with_rank_option(changing("gradients", {{1, 1, 1, 1}, {1, 1}}), "replicas", std::int64_t{2});
  expect_judged(four_then_two, "replicas");
  for (const std::string sharding : {"none", "optimizer", "parameters"})
    expect_judged(with_rank_option(changing(sharding), "offload", true), "offloaded, " + sharding);
}

/// One more rank, without a micro-batch, adds nothing to a sum in order.
TEST(Checkpoint, LeavesWhatRanksLeaveWhoseNumberNeverChanges) {
  const Case steady =
      with_rank_option(changing("none", {{1, 2, 1}, {1, 1, 0}}), "reduce.algorithm", std::string("in_order"));
  Case other = steady;
  other.dealt[0].push_back(0);

  const Trace here = run(steady), there = run(other);

  EXPECT_FALSE(parameters_of(steady.model).empty());
  for (const std::string& p : parameters_of(steady.model))
    EXPECT_EQ(*here.find(TapView{1, -1, "optimizer", p, 0}), *there.find(TapView{1, -1, "optimizer", p, 0})) << p;
}

/// Every failing tap of ranks whose number changes is given its place, whichever generation it is of.
TEST(Checkpoint, GivesFailingTapsTheirPlaces) {
  const Case c = changing("optimizer");
  const Trace trace = run(c);
  std::vector<TensorCheck> failing;
  for (const Tap& tap : trace.taps()) {
    TensorCheck check = not_run({"local", tap.name.text(), tap.name.stage});
    check.status = Status::fail;
    check.worst_index.assign(tap.value.shape.size(), 0);
    failing.push_back(std::move(check));
  }
  ASSERT_FALSE(failing.empty());

  EXPECT_NO_THROW(name_places(c, failing));
}

TEST(Checkpoint, NamesTheRankThatTookUpOtherBits) {
  const Case c = changing("optimizer");
  const Trace trace = run(c);

  for (const std::string tap :
       {"w0/r0/checkpoint/in.fc1.weight", "w0/r1/checkpoint/in.momentum.fc1.weight", "w0/r0/checkpoint/in.scale",
        "w0/r0/checkpoint/in.step", "w1/r0/checkpoint/fc1.weight", "w1/r1/checkpoint/momentum.out.bias",
        "w1/r1/checkpoint/scale", "w1/r1/checkpoint/step"}) {
    ASSERT_NE(trace.find(tap), nullptr) << tap;
    EXPECT_EQ(first_failing(checks_of(c, damaged(trace, tap, 1))), tap);
  }
}

/// The first rank forgets the momentum.
void forget(Run& run, const Checkpoint& from) {
  Checkpoint empty = from;
  for (auto& [name, tensor] : empty.tensors)
    if (name.starts_with("momentum.") && run.c.rank == 0) tensor = Tensor(tensor.dtype, tensor.shape);
  stage::load_checkpoint(run, empty);
}

TEST(Checkpoint, NamesAStageThatForgets) {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.load_checkpoint = forget;
    return copy;
  }();
  const Case c = changing("none");

  EXPECT_EQ(first_failing(checks_of(c, run(c, {.stages = &stages}))), "w1/r0/checkpoint/momentum.fc1.weight");
}

TEST(Checkpoint, HasNoTapsWhereTheNumberStays) {
  const Trace trace = run(three_ranks());

  EXPECT_FALSE(trace.taps().empty());
  for (const Tap& tap : trace.taps()) EXPECT_NE(tap.name.stage, "checkpoint");
}

TEST(Checkpoint, MissesWhatIsNotTapped) {
  const Case c = changing("none");
  const Trace trace = run(c);
  Trace shorter;
  shorter.claims = trace.claims;
  for (const Tap& tap : trace.taps())
    if (tap.name.text() != "w1/r1/checkpoint/fc1.weight") shorter.add(tap.name, tap.value);

  bool missed = false;
  for (const TensorCheck& check : checks_of(c, shorter))
    missed = missed || (check.status == Status::not_run && check.tap == "w1/r1/checkpoint/fc1.weight");

  EXPECT_TRUE(missed);
}

TEST(Checkpoint, SurvivesAFile) {
  const Case c = changing("parameters");
  const Trace trace = run(c);
  const auto file = std::filesystem::path(::testing::TempDir()) / "changing.safetensors";

  write_trace(trace, file);
  const Trace read = read_trace(file, c);

  EXPECT_EQ(read.taps().size(), trace.taps().size());
  EXPECT_EQ(first_failing(checks_of(c, read)), "");
}

TEST(Checkpoint, IsTakenApartByGeneration) {
  const Case c = changing("none");
  const Trace trace = run(c);

  const GenerationsOfTrace generations(c, trace);

  ASSERT_EQ(generations.all.size(), 2u);
  EXPECT_EQ(generations.all[0].count(), 3u);
  EXPECT_EQ(generations.all[1].count(), 2u);
  EXPECT_EQ(generations.with("w1/r1/optimizer/fc1.weight"), 1u);
  EXPECT_EQ(generations.all[1].traces[1].find("w0/optimizer/fc1.weight"), nullptr);
  EXPECT_NE(generations.all[1].traces[1].find("w0/checkpoint/in.fc1.weight"), nullptr);
}

}  // namespace
}  // namespace tally::checkpoint_test
