#include "kernels/training_step/kind_steps.hpp"

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

const RegisterLossSteps registered("mse", {evaluate});

}  // namespace
}  // namespace tally::mse_steps
