// The training loop taken apart: one function a stage, in a table that a fault copies and changes in one place.
//
//   const Stages& faulty() {
//     static const Stages stages = [] {
//       Stages copy = shipped_stages();
//       copy.factor = [](Run& run) { stage::fix_factor(run); run.factor *= 2; };
//       return copy;
//     }();
//     return stages;
//   }
//
// A window goes through the table from top to bottom; the stages marked (k) run once for every micro-batch, with
// run.micro_batch set. A shipped stage taps its own inputs before it launches, and its outputs after.
// Defined in backward.cpp, forward.cpp, window.cpp, kernels/training_step/ranks/reduce.cpp,
// kernels/training_step/ranks/sync_statistics.cpp.
#pragma once

#include <map>
#include <string>

#include "kernels/training_step/run/run_state.hpp"

namespace tally {

class OwnStep;
struct Checkpoint;
using Stage = void (*)(Run& run);

struct Stages {
  /// The whole window: calls everything below through run.stages.
  Stage window;
  Stage begin_window;   // clears the buffers and `found`, takes over the scale
  Stage learning_rate;  // run.learning_rate from run.step
  Stage cast;
  /// What the layers read where ranks share the parameters: put together of all pieces, before forward and, where
  /// run.behind_forward says so, again before backward.
  Stage all_gather;
  /// (k) What run.part of a pipeline gets: the activations of the part before, and where run.behind_forward says so the
  /// gradient that the part behind sends; and the same the other way round. Nothing where there is no such part.
  Stage receive;
  Stage send;
  Stage forward;  // the micro-batches of run.group, layer by layer
  /// A micro-step's statistics or sums, which all ranks put together inside forward and backward. A rank that has no
  /// micro-batch in it takes part with no rows.
  void (*sync_statistics)(Run& run, LayerState& layer, StepPart part);
  Stage running_stats;  // the same group; once for it with window statistics
  Stage factor;         // (k) run.factor, the c of the loss's gradient
  Stage loss;           // (k)
  Stage backward;       // the same group, in reverse
  /// Inside backward: the gradient of an output that several layers read, for micro-batch k.
  void (*fork)(Run& run, LayerState& layer, int k);
  /// (k) behind backward: the gradients of parameters that several layers read.
  Stage share;
  Stage accumulate;      // (k) left out without a buffer
  Stage reduce;          // of ranks alone: every buffer becomes the sum of all ranks'
  Stage overflow_check;  // dynamic scale only; sets run.found
  /// Where the step is offloaded, in front of `overflow_check` and behind `optimizer`: the buffers to run.host, and the
  /// updated parameters back. Everything in between is called with that run.
  Stage copy_down, copy_up;
  Stage agree;    // of ranks alone, the same: what one found, all act upon
  Stage unscale;  // unscale … optimizer are left out when run.found
  Stage norm;     // clipping by norm only
  Stage clip;
  Stage decay;
  Stage optimizer;
  Stage gather_updated;  // of ranks that share the optimizer, behind its step: what each moved, to all
  Stage scaler;          // dynamic scale only
  Stage schedule;        // run.step after the window
  Stage end_window;
  /// Between windows, where the number of ranks changes (checkpoint.hpp): what these ranks leave behind their last one,
  /// and what they take up before their first.
  void (*save_checkpoint)(Run& run, Checkpoint& into);
  void (*load_checkpoint)(Run& run, const Checkpoint& from);
  /// Every product of a linear layer, in this order of additions where the host computes it.
  void (*gemm)(Run& run, const GemmCall& call, const GemmOrder& order);
  /// Kernels to use instead of the shipped ones: operation -> variant, both as registered.
  std::map<std::string, std::string> variants = {};
  /// In the place of everything above: a step that is not Tally's own (own_step.hpp). nullptr: none.
  const OwnStep* own = nullptr;
};

/// The stages that ship. Lives as long as the program.
const Stages& shipped_stages();

// The shipped stages, for a fault that calls one of them more often, earlier, or on something else.
namespace stage {
void run_window(Run& run);
void begin_window(Run& run);
void fix_learning_rate(Run& run);
void cast(Run& run);
void all_gather(Run& run);
void receive(Run& run);
void send(Run& run);
void forward(Run& run);
void sync_statistics(Run& run, LayerState& layer, StepPart part);
void running_stats(Run& run);
void fix_factor(Run& run);
void loss(Run& run);
void backward(Run& run);
void fork(Run& run, LayerState& layer, int k);
void share(Run& run);
void accumulate(Run& run);
void reduce(Run& run);
void overflow_check(Run& run);
void copy_down(Run& run);
void copy_up(Run& run);
void agree(Run& run);
void unscale(Run& run);
void norm(Run& run);
void clip(Run& run);
void decay(Run& run);
void optimizer(Run& run);
void gather_updated(Run& run);
void scaler(Run& run);
void schedule(Run& run);
void end_window(Run& run);
void save_checkpoint(Run& run, Checkpoint& into);
void load_checkpoint(Run& run, const Checkpoint& from);
void gemm(Run& run, const GemmCall& call, const GemmOrder& order);
}  // namespace stage

}  // namespace tally
