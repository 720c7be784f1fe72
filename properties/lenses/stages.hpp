// The stages of a window as a walk goes through them: each reads its inputs, and is held to what it leaves. Those of a
// micro-batch use walk.micro_batch.
// Defined in backward.cpp, buffers.cpp, checkpoint.cpp, forward.cpp, gradient.cpp, loop_deviation.cpp, loss.cpp,
// micro_step.cpp, pipeline.cpp, rank_stages.cpp, rank_sums.cpp, scale_and_schedule.cpp, shards.cpp, step_statistics.cpp,
// update.cpp.
#pragma once

#include <string>
#include <vector>

#include "oracle/case/ranks.hpp"
#include "properties/lenses/walk.hpp"

namespace tally {

/// While it lives, the walk asks for the taps of one stage of a pipeline; of a model that is not cut for those that
/// name none.
class OfStage {
 public:
  OfStage(Walk& walk, std::size_t stage);
  OfStage(Walk& walk, int pipe) : walk_(walk) { walk.pipe = pipe; }
  ~OfStage() { walk_.pipe = -1; }
  OfStage(const OfStage&) = delete;
  OfStage& operator=(const OfStage&) = delete;

 private:
  Walk& walk_;
};

// In front of the micro-batches.
/// n_k of every micro-batch against the labels of the case, and N against the sum of the n_k that were counted. Local.
void walk_count(Walk& walk);
/// What ranks begin the window with of the first one's running values: `first` has them, where they are expected and
/// known; else what was tapped of them.
void walk_broadcast(Walk& walk, const WindowState* first);
void walk_cast(Walk& walk);
/// What ranks that share the parameters put together for walk.micro_batch.
void walk_all_gathered(Walk& walk);

// Stages of micro-batches [first, last) together.
void walk_forward(Walk& walk, int first, int last);
void walk_running_stats(Walk& walk, int first, int last);
void walk_backward(Walk& walk, int first, int last);
/// Layer i alone, of each of them.
void walk_forward_of(Walk& walk, std::size_t i, int first, int last);
void walk_backward_of(Walk& walk, std::size_t i, int first, int last);
/// In front of it, the gradient of its output, where several layers give one.
void walk_fork(Walk& walk, std::size_t i, int first, int last);
/// The gradients of parameters that several layers read.
void walk_shared_parameters(Walk& walk, int first, int last);

// Stages of walk.micro_batch.
void walk_loss(Walk& walk);
void walk_messages(Walk& walk);  // between the stages of a pipeline; local
void walk_accumulate(Walk& walk);

// Layers.
/// One of its inputs, of walk.micro_batch, as `stage` reads it.
Value layer_input(Walk& walk, std::size_t i, std::size_t input, const std::string& stage);
/// Its parameters, running values, mask and places, likewise.
LayerInputs layer_inputs(Walk& walk, const LayerView& layer, const std::string& stage);
/// The inputs behind the first, of a layer that reads several, as `stage` read them.
struct OtherInputs {
  std::vector<std::shared_ptr<const oracle::Expected>> read;
  bool complete = true;
  std::vector<const oracle::Expected*> pointers() const {
    std::vector<const oracle::Expected*> all;
    for (const auto& each : read) all.push_back(each.get());
    return all;
  }
};
OtherInputs other_inputs(Walk& walk, std::size_t i, const std::string& stage);
/// What stands where a layer reads: an output, or rows of the case's x.
Value output_read(Walk& walk, LayerInput from);
/// Whether a layer that looks rows up by `x`, or by positions among `inputs`, finds all of them in its table; true of
/// every other layer. Both as they were handed, complete.
bool finds_rows(const LayerView& layer, const Value& x, const LayerInputs& inputs);
/// The layer's own statistics for walk.micro_batch, where they are tapped.
oracle::Statistics tapped_statistics(const Walk& walk, const LayerView& layer);
/// One update of both running values by the statistics of so many rows.
void walk_running_update(Walk& walk, const LayerView& layer, std::int64_t rows);
/// Whether the subject runs layer i, the last one, and the loss as one, and the lens says nothing of what lies between.
bool is_fused_head(const Walk& walk, std::size_t i);
/// What came from the stage before for the layer that begins a part, or from the one behind for the layer that ends
/// one; unknown where the tensor does not travel, or is not tapped.
Value received(const Walk& walk, std::size_t layer, bool gradient);

// Statistics that ranks put together of a micro-step.
/// Whether ranks put the layer's statistics together.
bool pools(const Case& c, const LayerView& layer);
inline const std::string step_statistics_stage = "sync_statistics";
inline const std::vector<std::string> step_gradient_sums{"sum_dy", "sum_dy_h"};
/// The tensors that each rank hands over of its rows.
std::vector<std::string> handed_in_step(StepStatistics by);
/// What all have of the rows, for the rule that normalises them.
void add_step_statistics(const Walk& walk, const LayerView& layer, LayerInputs& inputs);
/// Before its rows are normalised: local, what it worked out of x, and what all have. Adds what its forward reads.
void walk_step_statistics(Walk& walk, const LayerView& layer, const Value& x, LayerInputs& inputs);
/// Before its dx, the same of the two sums over rows.
void walk_step_gradients(Walk& walk, const LayerView& layer, const Value& x, const Value& dy, LayerInputs& inputs);
/// A micro-step in which this rank has no rows: what it takes part in. Local.
void walk_step_without_rows(Walk& walk);
/// Micro-step k of a window, not of the local lens: of all ranks, or of one of them with what the others handed over as
/// they tapped it; it ends where that is not known.
void walk_micro_step(const std::vector<Walk*>& ranks, int k);

// Buffers.
/// What the window's end reads of a parameter: the last buffer, of ranks the sum of all, or the gradient itself.
Value summed(Walk& walk, const std::string& stage, const std::string& p);
/// One more gradient of every parameter added to its buffer, what it leaves held. Not of the local lens.
void add_gradients(Walk& walk, std::map<std::string, Value> gradients);
/// The gradient of a micro-batch that buffers, or sums over ranks, take in.
Value gradient_added(const Walk& walk, const std::string& p);

// Ranks.
/// What each of the ranks that are asked left of it; empty where one of them left no tap.
std::vector<const Tensor*> of_ranks(const Walk& walk, const std::vector<std::size_t>& asked, const std::string& stage,
                                    const std::string& tensor);
/// Whether gradients are added up at this place, not buffers; and whether it is the sum of what replicas have.
bool adds_gradients(const Walk& walk);
bool is_sum_of_replicas(const Walk& walk);
void walk_handed_over(Walk& walk);  // what a rank hands to the sum; local
void walk_reduce(Walk& walk);       // the sum at this place; local
/// All sums of a window, of one rank's part by what the others tapped. Not of the local lens.
void walk_sums(Walk& walk);
/// The sums of all ranks together; the last ones are left to be taken, by each that goes on from them.
oracle::ExpectedTensors sums_of_window(std::deque<Walk>& ranks, int window);
/// They become the buffers, or are added to them.
void take_sums(Walk& walk, const oracle::ExpectedTensors& sums);
void walk_agree(Walk& walk);
// What each found of its own pieces, the norm over the pieces of all, and what each hands to the others.
void walk_own_pieces(Walk& walk);
void walk_norm_over_ranks(Walk& walk);
void walk_gathered(Walk& walk);
/// A rank's norm of its pieces, and that of all. Not of the local lens.
oracle::Expected own_part_of_norm(const oracle::Declared& declared, const Walk& walk,
                                  const std::map<std::string, Value>& gradients);
oracle::Expected norm_over_ranks(const oracle::Declared& declared, const Walk& walk,
                                 const std::map<std::string, Value>& gradients);
/// Whether a rank's own pieces of the buffers overflowed.
OverflowFound overflow_of_pieces(const Walk& walk);

// Stages of a pipeline. Local.
void walk_found_by_stages(Walk& walk);
/// What each handed to the others of it, held to what it found, and what those of other ranks did; empty where one left
/// no tap.
std::vector<const Tensor*> found_by_stages(Walk& walk);
void walk_norm_over_stages(Walk& walk);
void walk_alike_on_stages(Walk& walk);
/// The norm of all gradients, by the parts that the stages find of their own layers. Not of the local lens.
oracle::Expected norm_over_stages(const oracle::Declared& declared, const Walk& walk,
                                  const std::map<std::string, Value>& gradients);

// The window's end.
void walk_overflow(Walk& walk);
/// Unscale, norm, clip, and the decay of the gradient, in the order that the recipe or a deviation has.
void walk_gradient(Walk& walk);
void walk_decay(Walk& walk, bool into_gradient);
/// And the decay of the parameters; of ranks that share the optimizer they are put together again.
void walk_optimizer(Walk& walk);
/// A window whose overflow was found must not touch the parameters.
void walk_no_step(Walk& walk);
void walk_scaler(Walk& walk);
void walk_schedule(Walk& walk);

// Where the number of ranks changes.
/// The layers whose running values move, by label.
std::vector<std::string> moved_layers(const std::vector<LayerView>& layers);
/// Behind a window: what this rank writes down is what it was left with. Nothing where it writes nothing, or where as
/// many ranks train the next window. Local.
void walk_left_checkpoint(Walk& walk);
/// In front of a window: what this rank takes up is what those before wrote down, and what it goes on from. `before` has
/// it where it is expected; nullptr: by what was tapped of it.
void walk_taken_checkpoint(Walk& walk, const LeftBehind* before);

// What a deviation changes; without one, the recipe's own.
/// Where it lets the window's buffers start.
void begin_buffers(Walk& walk);
/// What it does to gradients and buffers before they meet; the inputs of accumulate are held to it.
void deviate(Walk& walk, std::map<std::string, Value>& gradients);
/// c of walk.micro_batch.
oracle::Expected factor_of(const Walk& walk);
/// The steps that the schedule counts in this window, and the optimizer; and those its moments are corrected by.
std::int64_t schedule_count(const Walk& walk);
std::int64_t optimizer_count(const Walk& walk);
std::int64_t corrected_count(const Walk& walk);
/// The schedule that gives this window's rate at the count that corrects.
Choice schedule_in_force(const Walk& walk);
/// This window's decay, and how often it is applied.
Choice decay_in_force(const Walk& walk);
int decays_of(const Walk& walk);
ClipPlace clip_place(const Walk& walk);
/// A micro-batch's gradient of a parameter with what joins it.
Value with_penalty(const Walk& walk, const std::string& p, const Value& gradient);

}  // namespace tally
