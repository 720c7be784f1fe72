// Loss of every row of a micro-batch, and the gradient of c times their sum.
#include "kernels/training_step/stages.hpp"

namespace tally::stage {
namespace {

void cross_entropy(Run& run, int k, std::int64_t features, float* losses, void* dy) {
  const Choice& loss = run.c.model.loss;
  const double smoothing = loss.number("label_smoothing").to_double();
  run.launch<CrossEntropyArguments>("cross_entropy",
                                    {.storage = run.c.precision.storage,
                                     .z = run.output(k),
                                     .target = static_cast<const std::int64_t*>(run.target.row(run.first_row(k))),
                                     .class_weight = run.class_weight ? run.class_weight.as<float>() : nullptr,
                                     .loss = losses,
                                     .dz = dy,
                                     .rows = run.rows(k),
                                     .classes = features,
                                     .ignore_index = loss.integer("ignore_index"),
                                     .factor = run.factor,
                                     .keep = static_cast<float>(1 - smoothing),
                                     .spread = static_cast<float>(smoothing / static_cast<double>(features)),
                                     .smoothed = smoothing != 0});
}

void mse(Run& run, int k, std::int64_t features, float* losses, void* dy) {
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

}  // namespace

void loss(Run& run) {
  const int k = run.micro_batch;
  const Dtype storage = run.c.precision.storage;
  const bool squares = run.c.model.loss.kind == "mse";
  const std::int64_t rows = run.rows(k), features = run.dy.shape[1];
  void* losses = run.losses.row(run.first_row_alive(k));
  void* dy = run.dy.row(run.first_row_alive(k));
  run.tap("loss", "in.y", run.output(k), storage, {rows, features});
  run.tap("loss", "in.target", run.target.row(run.first_row(k)), run.target.dtype,
          squares ? std::vector{rows, features} : std::vector{rows});
  run.tap("loss", "in.factor", run.factor);
  (squares ? mse : cross_entropy)(run, k, features, static_cast<float*>(losses), dy);
  run.tap("loss", "loss", losses, Dtype::fp32, {rows});
  run.tap("loss", "d.y", dy, storage, {rows, features});
}

}  // namespace tally::stage
