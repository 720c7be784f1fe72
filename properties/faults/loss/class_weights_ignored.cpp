// The loss is taken without the weights of the classes.
#include <utility>

#include "properties/faults/seeded.hpp"

namespace tally::class_weights_ignored_fault {
namespace {

void loss(Run& run) {
  if (!run.class_weight) return stage::loss(run);
  DeviceTensor weights = std::exchange(run.class_weight, DeviceTensor{});
  if (magnitude() < 1) {
    Tensor nearer = weights.read();
    for (std::size_t i = 0; i < nearer.elements(); ++i) nearer.set(i, blend(nearer.value(i), 1.0));
    run.class_weight = DeviceTensor(run.device, "class weights of a fault", nearer);
  }
  stage::loss(run);
  run.stream.synchronize();
  run.class_weight = std::move(weights);
}

const RegisterFault registered{{
    .name = "class-weights-ignored",
    .stage = "loss",
    .right = "w[target] · nll",
    .wrong = "nll",
    .condition = "class weights other than 1",
    .knob = "value",
    .source = "source mutation: an argument dropped",
    .laws = {"class_weights_scale_their_rows"},
    .stages = replaced<&Stages::loss, loss>,
}};

}  // namespace
}  // namespace tally::class_weights_ignored_fault
