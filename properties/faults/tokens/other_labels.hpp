// A loss that is handed other labels than the case's rows are scored by.
#pragma once

#include "kernels/training_step/stages.hpp"
#include "oracle/case/sequences.hpp"

namespace tally {

/// The loss of run.micro_batch by `labels`, i64 [rows of x].
inline void loss_by(Run& run, const Tensor& labels) {
  DeviceTensor others(run.device, "labels", labels);
  std::swap(run.target, others);
  stage::loss(run);
  run.stream.synchronize();
  std::swap(run.target, others);
}

}  // namespace tally
