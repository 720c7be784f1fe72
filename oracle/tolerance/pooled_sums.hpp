// What a rank works out of its own rows of a micro-step, before ranks put it together.
// Defined in oracle/layers/batch_norm.cpp, pooled_sums.cpp.
#pragma once

#include "oracle/case/micro_steps.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

/// What step_tensors() names of these rows of x, by their names, each [1, features]. Mean and variance by the claim of batch_norm.statistics, sums
/// by that of batch_norm.step_sums: squares are rounded once, and added.
ExpectedTensors own_statistics(const Declared& declared, StepStatistics by, const Expected& x);
/// sum (x - mean)² of these rows, [1, features], d = fl(x - mean), by the claim of batch_norm.step_sums.
Expected own_squares(const Declared& declared, const Expected& x, const Expected& mean);
/// "sum_dy" and "sum_dy_h" of these rows, [1, features], by the claim of batch_norm.parameter_gradients; the pass has
/// pooled.mean and pooled.rstd.
ExpectedTensors pooled_gradient_sums(const BoundPass& pass, const Expected& x, const Expected& dy);

}  // namespace tally::oracle
