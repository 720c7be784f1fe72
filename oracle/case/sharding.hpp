// How ranks share a model out: shards of the optimizer's state, and the stages of a pipeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

// Which part of a parameter one of several ranks updates, where they share the optimizer's state: buckets are cut into as
// many pieces of one size as there are ranks, padding included, or ranks of a group, where several groups keep the same.

/// M, how many ranks keep the same pieces, and S = R / M, how many neighbours keep all pieces together: rank r keeps the
/// piece r mod S in group r / S. M is 1 unless the case says otherwise.
std::size_t replicas_of(const Case& c);
std::size_t sharers_of(const Case& c);

/// Whose numbers a sum adds that this rank takes part in: of all ranks; with replicas the rank's own group's behind a
/// micro-batch, and at the window's end (`micro_batch` below 0) one of each group, the first, for what it keeps together.
std::vector<std::size_t> ranks_of_sum(const Case& whole, std::size_t rank, int micro_batch);

/// Where a parameter's elements lie in what is added up, and how long the chunks are that it is cut into, one for each
/// who adds; `within`, above 0, is how long the stretches are that are each added up by themselves.
struct PlaceInBucket {
  std::int64_t first = 0, chunk = 1, within = 0;
  int chunk_of(std::int64_t element) const {
    const std::int64_t at = first + element;
    return static_cast<int>((within > 0 ? at % within : at) / chunk);
  }
};
/// The place in the bucket of a whole case, cut into one chunk for each sharer. Throws std::logic_error for a parameter
/// that does not train.
PlaceInBucket place_in_bucket(const Case& whole, const std::string& parameter);
/// The place in the sum behind a micro-batch, or at the window's end: there the replicas of each chunk add it up.
PlaceInBucket place_in_sum(const Case& whole, const std::string& parameter, int micro_batch);

/// Neighbouring elements of a parameter; count 0: none.
struct ShardPiece {
  std::int64_t first = 0, count = 0;
};
ShardPiece piece_of(const Case& whole, const std::string& parameter, std::size_t rank);

/// Whether each rank keeps and moves a part of the optimizer's state, and of the parameters.
bool shards_optimizer(const Case& c);
/// Whether it also keeps that part alone of the sums of gradients, and of the buffers that they are added to.
bool shards_gradients(const Case& c);
/// Whether it keeps that part alone of the parameters as well, which are put together whenever layers read them.
bool shards_parameters(const Case& c);
/// The parameter that a tap holds this rank's piece of; empty for every other tap.
std::string sharded_parameter(const Case& c, const std::string& stage, const std::string& tensor, int micro_batch);

// A model cut into parts that several stages of a pipeline train: which layers each has, and in which order their
// micro-batches go back.

/// P, stages that each hold some layers of the model and hand activations and their gradients to each other; 1 where one
/// process has all.
std::size_t stages_of(const Case& c);
bool is_pipelined(const Case& c);
/// V, parts of every stage.
std::size_t chunks_of(const Case& c);
/// "gpipe", "1f1b" or "interleaved".
const std::string& pipeline_schedule(const Case& c);

/// Neighbouring layers that one stage holds.
struct PipelinePart {
  std::size_t first, end;
};
/// The parts, P V of them or one; part j is on stage j mod P. The rules must have accepted the cut.
std::vector<PipelinePart> parts_of_model(const Case& c);
std::size_t stage_of_part(const Case& c, std::size_t part);
/// The part and the stage that a layer is in.
std::size_t part_with(const Case& c, std::size_t layer);
std::size_t stage_with(const Case& c, std::size_t layer);
/// The stage that has a parameter, "fc1.weight", or a layer's tensor, "bn.running_mean". Throws std::logic_error for a
/// name that is no layer's.
std::size_t stage_with_tensor(const Case& c, std::string_view name);

/// Layers that may be the first of a part: what they and the layers behind them read in front of them is the output of
/// the layer right before them, and no weight of a layer in front.
std::vector<std::size_t> places_to_cut(const Model& model);

/// Whether a layer ends a part whose output several layers of the next one read: the gradient is summed there, and
/// travels as that sum.
bool is_summed_behind(const Case& c, std::size_t layer);

/// Whether the micro-batches of a window go back from the last to the first.
bool goes_back_last_first(const Case& c);
/// The n-th micro-batch that goes back, of so many; and the one before micro-batch k, -1 for the first.
int nth_backward(const Case& c, int micro_batches, int n);
int backward_before(const Case& c, int micro_batches, int k);

}  // namespace tally
