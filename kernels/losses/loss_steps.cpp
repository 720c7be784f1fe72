// How a step evaluates a loss, alone and as one with the layer before it.
#include "kernels/losses/loss_steps.hpp"

#include "kernels/layer_arguments.hpp"
#include "kernels/training_step/kind_steps.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"

namespace tally {

CrossEntropyArguments cross_entropy_arguments(const Run& run, int k, const void* z, std::int64_t classes, float* losses,
                                              void* dz) {
  const Choice& loss = run.c.model.loss;
  const double smoothing = loss.number("label_smoothing").to_double();
  return {.storage = run.c.precision.storage,
          .z = z,
          .target = static_cast<const std::int64_t*>(run.target.row(run.first_row(k))),
          .class_weight = run.class_weight ? run.class_weight.as<float>() : nullptr,
          .loss = losses,
          .dz = dz,
          .rows = run.rows(k),
          .classes = classes,
          .ignore_index = loss.integer("ignore_index"),
          .factor = run.factor,
          .keep = static_cast<float>(1 - smoothing),
          .spread = static_cast<float>(smoothing / static_cast<double>(classes)),
          .smoothed = smoothing != 0,
          .z_loss = static_cast<float>(z_loss_of(loss).to_double())};
}

namespace {

void evaluate(Run& run, int k, std::int64_t features, float* losses, void* dy) {
  run.launch<CrossEntropyArguments>("cross_entropy",
                                    cross_entropy_arguments(run, k, run.output(k), features, losses, dy));
}

const RegisterKind<LossSteps> registered("cross_entropy", {evaluate});

}  // namespace
}  // namespace tally

namespace tally::mse_steps {
namespace {

void evaluate(Run& run, int k, std::int64_t features, float* losses, void* dy) {
  const auto count = static_cast<double>(features);
  const void* weights = run.item_weight ? run.item_weight.row(run.first_row(k)) : nullptr;
  run.launch<MseArguments>("mse", {.storage = run.c.precision.storage,
                                   .y = run.output(k),
                                   .target = run.target.row(run.first_row(k)),
                                   .item_weight = static_cast<const std::int64_t*>(weights),
                                   .loss = losses,
                                   .dy = dy,
                                   .rows = run.rows(k),
                                   .features = features,
                                   .factor = run.factor,
                                   .inverse_features = static_cast<float>(1 / count),
                                   .two_over_features = static_cast<float>(2 / count)});
}

const RegisterKind<LossSteps> registered("mse", {evaluate});

}  // namespace
}  // namespace tally::mse_steps

namespace tally {

bool names_head_loss(const Case& c) {
  const Model& model = c.model;
  return c.execution.kernels.contains(head_loss_operation) && !model.layers.empty() &&
         model.layers.back().kind == kinds::linear && model.loss.kind == kinds::cross_entropy;
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
