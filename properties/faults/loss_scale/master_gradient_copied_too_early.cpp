// One parameter's gradient is copied to the optimizer before the last micro-batch has been added. A rank that keeps a
// piece leaves it as it is, where the piece is not all that the rank has added up.
#include <map>

#include "properties/faults/planted_place.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"

namespace tally::master_gradient_copied_too_early_fault {
namespace {

Tensor& early(const Run& run) {
  static thread_local std::map<int, Tensor> by_rank;
  return by_rank[rank(run)];
}

void begin_window(Run& run) {
  early(run) = {};
  stage::begin_window(run);
}

void accumulate(Run& run) {
  if (run.micro_batch + 1 == micro_batches(run)) early(run) = drawn_parameter(run).buffer.read();
  stage::accumulate(run);
}

void unscale(Run& run) {
  stage::unscale(run);
  const Parameter& hit = drawn_parameter(run);
  const Tensor& copied = early(run);
  if (copied.elements() != hit.unscaled.read().elements()) return;
  const auto inverse = static_cast<double>(run.inverse_scale.scalar<float>());
  change(run, hit.unscaled, [&](std::size_t i, double value) { return blend(value, inverse * copied.value(i)); });
  run.tap("unscale", "d." + hit.name, hit.unscaled);
}

const Stages& faulty() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.begin_window = begin_window;
    copy.accumulate = accumulate;
    copy.unscale = unscale;
    return copy;
  }();
  return stages;
}

const RegisterFault registered{{
    .name = "master-gradient-copied-too-early",
    .stage = "unscale",
    .right = "copy after the last addition",
    .wrong = "copy before it",
    .condition = "K > 1; the parameter is drawn",
    .knob = "value",
    .source = "Megatron-LM 9b55856615",
    .laws = {"partition_equals_full_batch", "exact_lane"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::master_gradient_copied_too_early_fault
