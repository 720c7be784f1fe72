// The passes of a pipeline's stages: each part once forward and once back, as many alive as the schedule says, and no
// stage waits for ever.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "kernels/training_step/ranks/pipeline.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/sharding.hpp"

namespace tally::pipeline_schedule_test {
namespace {

struct Size {
  std::size_t stages, chunks;
  int micro_batches;
};

/// A case as far as a schedule reads it.
Case scheduled(const Size& size, const std::string& schedule, const std::string& backward = "fifo") {
  Case c;
  c.model.layers.resize(size.stages * size.chunks);
  c = with_rank_option(std::move(c), "pipeline.stages", static_cast<std::int64_t>(size.stages));
  c = with_rank_option(std::move(c), "pipeline.chunks", static_cast<std::int64_t>(size.chunks));
  c = with_rank_option(std::move(c), "pipeline.schedule", schedule);
  return with_rank_option(std::move(c), "pipeline.backward", backward);
}

using Done = std::set<std::tuple<std::size_t, int, bool>>;

/// Whether what a pass waits for is there: the part before, of a pass back the part behind and its own forward.
bool can_go(const Done& done, const PipelinePass& pass, std::size_t parts) {
  const auto is_done = [&](std::size_t part, bool back) { return done.contains({part, pass.micro_batch, back}); };
  if (!pass.back) return pass.part == 0 || is_done(pass.part - 1, false);
  return is_done(pass.part, false) && (pass.part + 1 == parts || is_done(pass.part + 1, true));
}

/// Runs all stages side by side, each as far as it gets, until none goes on; gives how many passes were left.
std::size_t passes_left(const Case& c, int micro_batches) {
  std::vector<std::vector<PipelinePass>> order;
  std::size_t left = 0;
  for (std::size_t stage = 0; stage < stages_of(c); ++stage) {
    order.push_back(passes_of_stage(c, stage, micro_batches));
    left += order.back().size();
    std::ranges::reverse(order.back());
  }
  Done done;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (auto& passes : order)
      while (!passes.empty() && can_go(done, passes.back(), c.model.layers.size())) {
        done.insert({passes.back().part, passes.back().micro_batch, passes.back().back});
        passes.pop_back();
        --left;
        goes_on = true;
      }
  }
  return left;
}

std::size_t most_alive(const std::vector<PipelinePass>& passes) {
  std::size_t now = 0, most = 0;
  for (const PipelinePass& pass : passes) most = std::max(most, pass.back ? --now : ++now);
  return most;
}

TEST(PipelineSchedules, EndForEveryNumberOfStagesAndMicroBatches) {
  for (std::size_t stages = 2; stages <= 6; ++stages)
    for (int micro_batches = 1; micro_batches <= 12; ++micro_batches) {
      for (const std::string schedule : {"gpipe", "1f1b"})
        EXPECT_EQ(passes_left(scheduled({stages, 1, micro_batches}, schedule), micro_batches), 0U);
      EXPECT_EQ(passes_left(scheduled({stages, 1, micro_batches}, "gpipe", "lifo"), micro_batches), 0U);
      for (std::size_t chunks = 2; chunks <= 3 && micro_batches % static_cast<int>(stages) == 0; ++chunks)
        EXPECT_EQ(passes_left(scheduled({stages, chunks, micro_batches}, "interleaved"), micro_batches), 0U)
            << stages << " stages, " << chunks << " chunks, " << micro_batches << " micro-batches";
    }
}

TEST(PipelineSchedules, KeepAsManyAliveAsTheySay) {
  for (std::size_t stages = 2; stages <= 6; ++stages)
    for (std::size_t stage = 0; stage < stages; ++stage)
      for (std::size_t k = 1; k <= 12; ++k) {
        const auto alive = [&](std::size_t chunks, const std::string& schedule) {
          const Case c = scheduled({stages, chunks, static_cast<int>(k)}, schedule);
          return most_alive(passes_of_stage(c, stage, static_cast<int>(k)));
        };
        EXPECT_EQ(alive(1, "gpipe"), k);
        EXPECT_EQ(alive(1, "1f1b"), std::min(k, stages - stage));
        if (k % stages == 0) EXPECT_EQ(alive(2, "interleaved"), std::min(2 * k, 2 * (stages - stage - 1) + stages + 1));
      }
}

TEST(PipelineSchedules, GoBackInTheOrderThatTheCaseSays) {
  const auto back = [](const Case& c) {
    std::vector<int> order;
    for (const PipelinePass& pass : passes_of_stage(c, 0, 3))
      if (pass.back) order.push_back(pass.micro_batch);
    return order;
  };

  EXPECT_EQ(back(scheduled({2, 1, 3}, "gpipe")), (std::vector{0, 1, 2}));
  EXPECT_EQ(back(scheduled({2, 1, 3}, "1f1b")), (std::vector{0, 1, 2}));
  EXPECT_EQ(back(scheduled({2, 1, 3}, "gpipe", "lifo")), (std::vector{2, 1, 0}));
}

TEST(PipelineSchedules, TakeTheSameMicroBatchesThroughOneChunkAfterAnother) {
  const std::vector<PipelinePass> passes = passes_of_stage(scheduled({2, 2, 2}, "interleaved"), 1, 2);

  const std::vector<PipelinePass> expected{{1, 0, false}, {1, 1, false}, {3, 0, false}, {3, 0, true},
                                           {3, 1, false}, {3, 1, true},  {1, 0, true},  {1, 1, true}};
  EXPECT_EQ(passes, expected);
}

}  // namespace
}  // namespace tally::pipeline_schedule_test
