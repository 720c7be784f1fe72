#include "kernels/training_step/add_norm.hpp"

namespace tally {
namespace {

/// Where a sum and a norm stand one behind the other, the norm; nullptr: they do not.
LayerState* norm_behind(Run& run, const LayerState& sum) {
  const std::size_t next = sum.index + 1;
  if (sum.layer->kind != "add" || sum.inputs.size() != 2 || next >= run.layers.size()) return nullptr;
  LayerState& norm = run.layers[next];
  const bool reads_it = norm.inputs.front() == static_cast<LayerInput>(sum.index);
  return norm.layer->kind == "rms_norm" && reads_it ? &norm : nullptr;
}

bool fuses(const Run& run, const char* operation, const char* norm) {
  return run.kernels.has(operation) && run.kernels.claim(norm).variant == "row_lanes" && run.options.follow == nullptr;
}

LayerState* sum_before(Run& run, const LayerState& norm, LayerState* (*norm_of)(Run&, const LayerState&)) {
  if (norm.index == 0) return nullptr;
  LayerState& sum = run.layers[norm.index - 1];
  return norm_of(run, sum) == nullptr ? nullptr : &sum;
}

}  // namespace

LayerState* norm_added_to(Run& run, const LayerState& sum) {
  LayerState* const norm = fuses(run, add_norm_operation, "rms_norm.forward") ? norm_behind(run, sum) : nullptr;
  return norm != nullptr && sum.elsewhere != norm->elsewhere ? nullptr : norm;
}

LayerState* sum_normalised_by(Run& run, const LayerState& norm) { return sum_before(run, norm, norm_added_to); }

LayerState* norm_adding_back_to(Run& run, const LayerState& sum) {
  if (!sum.dy || sum.readers.size() != 2 || !fuses(run, add_norm_backward_operation, "rms_norm.backward"))
    return nullptr;
  return norm_behind(run, sum);
}

LayerState* sum_added_back_by(Run& run, const LayerState& norm) { return sum_before(run, norm, norm_adding_back_to); }

}  // namespace tally
