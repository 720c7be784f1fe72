#include "kernels/training_step/losses/cross_entropy.hpp"

#include "kernels/training_step/kind_steps.hpp"
#include "oracle/case/z_loss.hpp"

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

const RegisterLossSteps registered("cross_entropy", {evaluate});

}  // namespace
}  // namespace tally
