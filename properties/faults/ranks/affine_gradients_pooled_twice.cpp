// The gradients of weight and bias are those of all ranks' rows, and then added up over the ranks as well.
#include "properties/faults/ranks/planted_on_steps.hpp"

namespace tally::affine_gradients_pooled_twice_fault {
namespace {

void take_of_all(Run& run, Parameter* parameter, const DeviceTensor& sums, int k) {
  if (parameter == nullptr) return;
  const Tensor all = sums.read();
  void* const gradient = run.gradient_of(parameter, k);
  const Dtype storage = run.c.precision.storage;
  change(run, gradient, storage, parameter->elements,
         [&](std::size_t i, double own) { return blend(own, all.value(i)); });
  run.micro_batch = k;
  run.tap("backward", "d." + parameter->name, gradient, storage, parameter->copy.shape);
  run.micro_batch = -1;
}

void backward(Run& run) {
  stage::backward(run);
  for (const LayerState& layer : run.layers) {
    if (!layer.step_statistics || !layer.gives_dx) continue;
    take_of_all(run, layer.trained_weight(), layer.dw_sum, run.group_begin);
    take_of_all(run, layer.trained_bias(), layer.db_sum, run.group_begin);
  }
}

const RegisterFault registered{{
    .name = "affine-gradients-pooled-twice",
    .stage = "backward",
    .right = "each rank's own rows, added up over the ranks once",
    .wrong = "all rows on every rank, and added up again",
    .condition = "micro_step statistics that pass a gradient on, weight and bias that train, rows on several ranks",
    .knob = "value",
    .source = "nnabla PR 1120",
    .laws = {"micro_step_statistics_pool"},
    .stages = replaced<&Stages::backward, backward>,
}};

}  // namespace
}  // namespace tally::affine_gradients_pooled_twice_fault
