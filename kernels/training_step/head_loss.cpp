#include "kernels/training_step/head_loss.hpp"

#include "kernels/head_loss/arguments.hpp"
#include "kernels/training_step/losses/cross_entropy.hpp"

namespace tally {

bool names_head_loss(const Case& c) {
  const Model& model = c.model;
  return c.execution.kernels.contains(head_loss_operation) && !model.layers.empty() &&
         model.layers.back().kind == "linear" && model.loss.kind == "cross_entropy";
}

bool fuses_head_and_loss(const Run& run) { return run.kernels.has(head_loss_operation); }

bool is_fused_head(const Run& run, const LayerState& layer) {
  return fuses_head_and_loss(run) && layer.readers.empty();
}

void add_head_and_loss(Run& run) {
  if (!fuses_head_and_loss(run)) return;
  LayerState& head = run.layers.back();
  const auto make = [&](const std::string& what, std::vector<std::int64_t> shape) {
    return DeviceTensor(run.device, what, Dtype::fp32, std::move(shape));
  };
  head.y = make("a chunk of " + head.label + ".y", {head_chunk, head.out});
  run.dy = make("a chunk of d.y", {head_chunk, head.out});
  if (head.trained_weight() != nullptr) head.dw_sum = make("sums of " + head.weight->name, {head.out, head.in});
  if (head.trained_bias() != nullptr) head.db_sum = make("sums of " + head.bias->name, {head.out});
}

void declare_head_and_loss(Run& run) {
  if (fuses_head_and_loss(run)) run.trace.groups.insert(run.trace.groups.begin(), {"forward", "backward"});
}

void run_head_and_loss(Run& run) {
  LayerState& head = run.layers.back();
  const int k = run.micro_batch;
  void* losses = run.losses.row(run.first_row_alive(k));
  const HeadLossArguments arguments{
      .storage = run.c.precision.storage,
      .x = run.x_of(head, k),
      .weight = head.weight->copy.data(),
      .bias = head.bias == nullptr ? nullptr : head.bias->copy.data(),
      .loss = cross_entropy_arguments(run, k, head.y.data(), head.out, static_cast<float*>(losses), run.dy.data()),
      .width = head.in,
      .dx = head.gives_dx ? run.dx_of(head, k) : nullptr,
      .dw = head.trained_weight() == nullptr ? nullptr : run.gradient_by(head, head.weight, k),
      .db = head.trained_bias() == nullptr ? nullptr : run.gradient_of(head.bias, k),
      .dw_sum = head.dw_sum ? head.dw_sum.as<float>() : nullptr,
      .db_sum = head.db_sum ? head.db_sum.as<float>() : nullptr};
  run.launch(head_loss_operation, arguments);
}

}  // namespace tally
