// Law: LayerNorm takes its statistics from each row alone, so that cutting the batch changes nothing: its gap to the
// full batch is exactly zero.
#include "oracle/layers/contract.hpp"
#include "oracle/window/gap.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/residual_blocks.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::layer_norm_leaves_no_gap_law {
namespace {

void shape(Plan& plan) {
  take_out_if(plan.hidden, [](const Layer& l) { return contract_of("layer", l).norm; });
  plan.hidden.insert(plan.hidden.begin(), layer("layer_norm", "norm1"));
  plan.normalisation = Normalisation::window_items;
  plan.input = std::max<std::int64_t>(plan.input, 2);
  unequal_micro_batches(plan);
  for (auto& window : plan.windows) {
    for (auto& rows : window) rows = std::max<std::int64_t>(rows, 2);  // the control's BatchNorm needs two
  }
}

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome = run_and_check(c, subject).outcome;
  if (outcome.status == Status::not_run) return outcome;
  outcome.semantic_gap = oracle::first_gradient_gap(c);
  require(outcome, outcome.semantic_gap == 0, "w0/semantic_gap", "forward", "LayerNorm leaves a gap to the full batch");
  return settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions&) {
  Case batch = c;
  for (Layer& l : batch.model.layers) {
    if (l.kind == "layer_norm") l = layer("batch_norm", l.name, {{"statistics", std::string("micro_batch")}});
  }
  batch.tensors["norm1.running_mean"] = Tensor(c.precision.master, {c.model.input});
  Tensor& variance = batch.tensors["norm1.running_var"] = Tensor(c.precision.master, {c.model.input});
  for (std::size_t i = 0; i < variance.elements(); ++i) variance.set(i, 1);
  return oracle::first_gradient_gap(batch) > 0;
}

const RegisterLaw registered{{
    .name = "layer_norm_leaves_no_gap",
    .family = "BatchNorm",
    .statement = "LayerNorm leaves no gap to the full batch, however it is cut.",
    .shape = shape,
    .holds = holds,
    .control = "BatchNorm in its place leaves one",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::layer_norm_leaves_no_gap_law
