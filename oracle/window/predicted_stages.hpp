// The bits of the window's stages that a subject claims to compute as kernels/arithmetic.md writes them, from the bits
// they read. Nothing where the claim is missing, or a constant may be either of two floats.
#pragma once

#include "oracle/tolerance/as_written.hpp"

namespace tally::oracle {

/// fp32 [1, 1], from the norm: of a clip by norm.
Prediction predicted_coefficient(const Declared& declared, const Choice& clip, float norm);
/// At step t of the schedule: the new gradient or the new parameter, as oracle::decayed.
Prediction predicted_decayed(const Declared& declared, const Choice& decay, const Choice& schedule, std::int64_t step,
                             const Matrix<float>& gradient, const Matrix<float>& parameter);

Prediction predicted_running_mean(const Declared& declared, const Layer& layer, const Matrix<float>& running,
                                  const Matrix<float>& mean);
Prediction predicted_running_var(const Declared& declared, const Layer& layer, const Matrix<float>& running,
                                 const Matrix<float>& biased_var, std::int64_t rows);

}  // namespace tally::oracle
