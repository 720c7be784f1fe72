#include "kernels/training_step/kind_steps.hpp"
#include "oracle/case/z_loss.hpp"

namespace tally {
namespace {

void evaluate(Run& run, int k, std::int64_t features, float* losses, void* dy) {
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
                                     .smoothed = smoothing != 0,
                                     .z_loss = static_cast<float>(z_loss_of(loss).to_double())});
}

const RegisterLossSteps registered("cross_entropy", {evaluate});

}  // namespace
}  // namespace tally
