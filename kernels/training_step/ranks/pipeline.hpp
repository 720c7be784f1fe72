// A window on one stage of a pipeline: the order in which parts and micro-batches go forward and back, and what is kept
// in between.
// Defined in pipeline.cpp.
#pragma once

#include <vector>

#include "kernels/training_step/run/run_state.hpp"

namespace tally {

/// One part of the model, forward or back, on one micro-batch.
struct PipelinePass {
  std::size_t part;
  int micro_batch;
  bool back;
  friend bool operator==(const PipelinePass&, const PipelinePass&) = default;
};

/// The passes of a stage over a window, in order. `gpipe`: all micro-batches go forward, then all back. `1f1b`:
/// min(K, P - p - 1) go forward first, then one forward and one back in turn, then the rest back. `interleaved`: P
/// micro-batches go through one chunk after another, then the next P (Megatron-LM, get_pp_rank_microbatches);
/// min(K V, 2 (P - p - 1) + (V - 1) P) of the K V passes come first.
std::vector<PipelinePass> passes_of_stage(const Case& c, std::size_t stage, int micro_batches);

/// Memory for what forward leaves of run.part and run.group_begin; from where it left it to what is kept, and back. And
/// its end: nothing of it is there any more.
void make_activations(Run& run);
void put_activations_away(Run& run);
void take_activations_back(Run& run);
void drop_activations(Run& run);

/// All passes of a window, from activations to the sums in the buffers.
void run_pipeline(Run& run);

}  // namespace tally
