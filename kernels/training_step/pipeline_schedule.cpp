#include <algorithm>

#include "kernels/training_step/pipeline.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/sizes.hpp"

namespace tally {
namespace {

/// Forward and back by their numbers, of as many as go first before any goes back.
struct Passes {
  std::vector<PipelinePass> forward, back;
};

Passes by_micro_batch(const Case& c, std::size_t stage, int micro_batches) {
  Passes passes;
  for (int k = 0; k < micro_batches; ++k) {
    passes.forward.push_back({stage, k, false});
    passes.back.push_back({stage, nth_backward(c, micro_batches, k), true});
  }
  return passes;
}

Passes by_chunk(const Case& c, std::size_t stage, int micro_batches) {
  Passes passes;
  const auto stages = static_cast<int>(stages_of(c)), chunks = static_cast<int>(chunks_of(c));
  for (int i = 0; i < micro_batches * chunks; ++i) {
    const int chunk = i / stages % chunks, k = i / (stages * chunks) * stages + i % stages;
    const auto part = [&](int of) { return static_cast<std::size_t>(of * stages) + stage; };
    passes.forward.push_back({part(chunk), k, false});
    passes.back.push_back({part(chunks - 1 - chunk), k, true});
  }
  return passes;
}

const RegisterEdges registered_chunks("chunks of a stage", {2}, "a round of micro-batches goes through the next chunk");

}  // namespace

std::vector<PipelinePass> passes_of_stage(const Case& c, std::size_t stage, int micro_batches) {
  const std::string& schedule = pipeline_schedule(c);
  const Passes passes =
      schedule == "interleaved" ? by_chunk(c, stage, micro_batches) : by_micro_batch(c, stage, micro_batches);
  const std::size_t all = passes.forward.size(), behind = stages_of(c) - stage - 1;
  std::size_t first = all;
  if (schedule == "1f1b") first = std::min(all, behind);
  if (schedule == "interleaved") first = std::min(all, 2 * behind + (chunks_of(c) - 1) * stages_of(c));
  std::vector<PipelinePass> order(passes.forward.begin(), passes.forward.begin() + static_cast<std::ptrdiff_t>(first));
  for (std::size_t i = 0; i < all; ++i) {
    if (first + i < all) order.push_back(passes.forward[first + i]);
    order.push_back(passes.back[i]);
  }
  return order;
}

}  // namespace tally
