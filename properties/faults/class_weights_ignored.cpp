// The loss is taken without the weights of the classes.
#include <utility>

#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

void loss(Run& run) {
  DeviceTensor weights = std::exchange(run.class_weight, DeviceTensor{});
  stage::loss(run);
  run.class_weight = std::move(weights);
}

const RegisterFault registered{{
    .name = "class-weights-ignored",
    .stage = "loss",
    .right = "w[target] · nll",
    .wrong = "nll",
    .condition = "class weights other than 1",
    .source = "source mutation: an argument dropped",
    .laws = {"class_weights_scale_their_rows"},
    .stages = replaced<&Stages::loss, loss>,
}};

}  // namespace
}  // namespace tally
