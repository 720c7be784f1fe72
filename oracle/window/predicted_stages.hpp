// The bits of the window's stages that a subject claims to compute as kernels/arithmetic.md writes them, from the bits
// they read. Nothing where the claim is missing, or a constant may be either of two floats.
#pragma once

#include "oracle/tolerance/as_written.hpp"

namespace tally::oracle {

/// fp32 [1, 1], from the norm.
Prediction predicted_coefficient(const Declared& subject, const Choice& clip, float norm);
Prediction predicted_l2_gradient(const Declared& subject, const Choice& decay, const Matrix<float>& gradient,
                                 const Matrix<float>& parameter);
/// Decoupled decay at step t of the schedule.
Prediction predicted_decoupled_parameter(const Declared& subject, const Choice& decay, const Choice& schedule,
                                         std::int64_t step, const Matrix<float>& parameter);

Prediction predicted_running_mean(const Declared& subject, const Layer& layer, const Matrix<float>& running,
                                  const Matrix<float>& mean);
Prediction predicted_running_var(const Declared& subject, const Layer& layer, const Matrix<float>& running,
                                 const Matrix<float>& biased_var, std::int64_t rows);

}  // namespace tally::oracle
