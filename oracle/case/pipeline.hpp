// A model cut into parts that several stages of a pipeline train: which layers each has, and in which order their
// micro-batches go back.
// Defined in pipeline.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

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
