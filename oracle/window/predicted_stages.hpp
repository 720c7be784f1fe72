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

/// `old` empty where there is no momentum yet.
Prediction predicted_sgd_momentum(const Declared& subject, const Choice& optimizer, const Matrix<float>& gradient,
                                  const Matrix<float>& old);
/// From the new momentum, empty without; `rate` as the subject holds it.
Prediction predicted_sgd_parameter(const Declared& subject, const Choice& optimizer, float rate,
                                   const Matrix<float>& gradient, const Matrix<float>& momentum,
                                   const Matrix<float>& parameter);

Prediction predicted_exp_avg(const Declared& subject, const Choice& optimizer, const Matrix<float>& gradient,
                             const Matrix<float>& old);
Prediction predicted_exp_avg_sq(const Declared& subject, const Choice& optimizer, const Matrix<float>& gradient,
                                const Matrix<float>& old);
/// From the new moments, at step t of the schedule (the first is 0).
Prediction predicted_adam_parameter(const Declared& subject, const Choice& optimizer, const Choice& schedule,
                                    std::int64_t step, const Matrix<float>& exp_avg, const Matrix<float>& exp_avg_sq,
                                    const Matrix<float>& parameter);

Prediction predicted_running_mean(const Declared& subject, const Layer& layer, const Matrix<float>& running,
                                  const Matrix<float>& mean);
Prediction predicted_running_var(const Declared& subject, const Layer& layer, const Matrix<float>& running,
                                 const Matrix<float>& biased_var, std::int64_t rows);

}  // namespace tally::oracle
