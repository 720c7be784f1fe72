// What faults of models over tokens share: other labels, positions, rows of padding, one use of a tied weight. Defined
// in tokens.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/training_step/run/run_state.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/case.hpp"
#include "oracle/case/rows.hpp"
#include "properties/faults/planted_between.hpp"

namespace tally {

// A loss that is handed other labels than the case's rows are scored by.

/// The loss of run.micro_batch by `labels`, i64 [rows of x].
inline void loss_by(Run& run, const Tensor& labels) {
  DeviceTensor others(run.device, "labels", labels);
  std::swap(run.target, others);
  stage::loss(run);
  run.stream.synchronize();
  std::swap(run.target, others);
}

// How far positions may go that a fault makes up.

/// The last row of the shortest table of learned positions, which must not be left; the largest number without one.
std::int64_t last_position(const Run& run);

// Rows of padding, as oracle/case/batch.hpp makes them: each a sequence by itself that nobody scores.

/// How many rows of padding end with each row of the case in its micro-batch, 0 for a row that is none.
std::vector<std::int64_t> padding_up_to(const Case& c);

// The gradient of a tied weight where something is wrong with the sum over its uses.

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
