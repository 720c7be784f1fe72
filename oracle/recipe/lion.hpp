// Lion with bounds, and bit by bit.
#pragma once

#include "oracle/tolerance/as_written.hpp"
#include "oracle/tolerance/expected.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {

/// The momentum that (lion.2) leaves; `old` empty: it began at zero.
Expected lion_momentum(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                       const Expected& old);
/// (lion.1) from the old momentum. Where the interval of what the sign is of reaches over 0, the sign is open: the
/// subject may have moved by -rate, 0 or rate.
Expected lion_parameter(const Declared& declared, const Choice& optimizer, const Expected& rate,
                        const Expected& gradient, const Expected& old, const Expected& parameter);

/// The same bit by bit: kernels/arithmetic.md.
Prediction predicted_lion_momentum(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                                   const Matrix<float>& old);
Prediction predicted_lion_parameter(const Declared& declared, const Choice& optimizer, float rate,
                                    const Matrix<float>& gradient, const Matrix<float>& old,
                                    const Matrix<float>& parameter);

}  // namespace tally::oracle
