// Loss of every row of a micro-batch, and the gradient of c times their sum.
#include "kernels/training_step/head_loss.hpp"
#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/kinds.hpp"

namespace tally::stage {

void loss(Run& run) {
  const int k = run.micro_batch;
  const Choice& loss = run.c.model.loss;
  const Dtype storage = run.c.precision.storage;
  const bool fused = fuses_head_and_loss(run);
  const std::int64_t rows = run.rows(k), features = run.dy.shape[1];
  void* losses = run.losses.row(run.first_row_alive(k));
  void* dy = fused ? nullptr : run.dy.row(run.first_row_alive(k));
  if (!fused) run.tap("loss", "in.y", run.output(k), storage, {rows, features});
  run.tap("loss", "in.target", run.target.row(run.first_row(k)), run.target.dtype,
          has_class_targets(loss) ? std::vector{rows} : std::vector{rows, features});
  run.tap("loss", "in.factor", run.factor);
  if (fused)
    run_head_and_loss(run);
  else
    loss_steps(loss).evaluate(run, k, features, static_cast<float*>(losses), dy);
  run.tap("loss", "loss", losses, Dtype::fp32, {rows});
  if (!fused) run.tap("loss", "d.y", dy, storage, {rows, features});
}

}  // namespace tally::stage
