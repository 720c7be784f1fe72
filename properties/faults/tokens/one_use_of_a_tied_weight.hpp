// The gradient of a tied weight where something is wrong with the sum over its uses.
#pragma once

#include "kernels/training_step/stages.hpp"
#include "properties/faults/planted_between.hpp"

namespace tally {

enum class Use { first, last };

/// `share`, after which every shared parameter of run.micro_batch has the gradient of that use alone, in the order of
/// execution, as far as the magnitude says.
template <Use use>
void share_one(Run& run) {
  stage::share(run);
  const Dtype storage = run.c.precision.storage;
  for (const SharedParameter& shared : shared_parameters(run.c.model)) {
    const Parameter& parameter = run.parameter(shared.name);
    const std::size_t user = use == Use::first ? shared.users.front() : shared.users.back();
    void* sum = run.gradient_of(&parameter, run.micro_batch);
    run.stream.synchronize();
    Tensor right(storage, parameter.master.shape), alone(storage, parameter.master.shape);
    run.device.read(sum, right.bytes.data(), right.bytes.size());
    run.device.read(run.gradient_by(run.layers[user], &parameter, run.micro_batch), alone.bytes.data(),
                    alone.bytes.size());
    const Tensor left = mixed(Mix::values, right, alone);
    run.device.write(sum, left.bytes.data(), left.bytes.size());
    run.tap("fork", "d." + shared.name, sum, storage, parameter.master.shape);
  }
}

}  // namespace tally
