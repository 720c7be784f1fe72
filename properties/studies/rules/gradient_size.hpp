// The same case with smaller gradients: the lever of the study of published rules.
#pragma once

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "properties/generators/plan.hpp"

namespace tally {

/// Whether with_gradient_times() scales every gradient of the plan's cases alike.
bool gradient_can_shrink(const Plan& plan);

/// The case with gradients about 2^exponent (<= 0) times as large, through its loss, as late in a training run:
///   cross_entropy  every row that counts belongs to class 0, label smoothing off, and the last bias of class 0 is
///   raised
///                  by log((classes - 1) / 2^exponent): the model is right, and as sure as that;
///   mse            last layer and targets times 2^exponent, so that the residuals are, and a dynamic loss scale
///   divided
///                  by it, so that what overflows on purpose still does.
/// 0 changes nothing.
Case with_gradient_times(Case c, int exponent);

/// Root of the mean square of the first unscaled gradient in a trace; 0 where no window took its step.
double gradient_size(const Case& c, const Trace& trace);

}  // namespace tally
