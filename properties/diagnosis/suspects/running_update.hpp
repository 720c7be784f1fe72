// One update of a running statistic, for suspects that do it otherwise.
#pragma once

#include <optional>

#include "properties/diagnosis/suspect.hpp"

namespace tally {

/// What an update of this tensor reads; nullopt where it is no running statistic, or a tap is missing.
struct RunningUpdate {
  Values running, batch;  // before, and of this micro-batch; the variance is biased
  double momentum = 0;
  double unbiased = 1;  // n / (n - 1) for the variance
};
std::optional<RunningUpdate> running_update(const Evidence& evidence, const HeldTensor& held);

/// kept * running + taken * batch.
Values mixed(const Values& running, double kept, const Values& batch, double taken);

}  // namespace tally
