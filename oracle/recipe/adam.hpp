// Adam with bounds, and bit by bit.
#pragma once

#include "oracle/tolerance/as_written.hpp"
#include "oracle/tolerance/expected.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {

/// The moments that (adam.1) and (adam.2) leave; an empty `old` is zero.
Expected adam_exp_avg(const Declared& declared, const Choice& optimizer, const Expected& gradient, const Expected& old);
Expected adam_exp_avg_sq(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                         const Expected& old);
/// (adam.3) from the new moments at step t (the first is 0). `from_zero`: the moments began at zero, so that
/// |m^| / sqrt v^ is bounded (oracle/tolerance.md) and the bound capped by it.
Expected adam_parameter(const Declared& declared, const Choice& optimizer, const StepRate& rate, std::int64_t step,
                        const Expected& exp_avg, const Expected& exp_avg_sq, const Expected& parameter, bool from_zero);

/// The same bit by bit, at step t of the schedule: kernels/arithmetic.md.
Prediction predicted_exp_avg(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                             const Matrix<float>& old);
Prediction predicted_exp_avg_sq(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                                const Matrix<float>& old);
Prediction predicted_adam_parameter(const Declared& declared, const Choice& optimizer, const Choice& schedule,
                                    std::int64_t step, const Matrix<float>& exp_avg, const Matrix<float>& exp_avg_sq,
                                    const Matrix<float>& parameter);

}  // namespace tally::oracle
