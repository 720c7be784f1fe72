// RMSProp with bounds, and bit by bit.
#pragma once

#include "oracle/tolerance/as_written.hpp"
#include "oracle/tolerance/expected.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {

/// The second moment that (rmsprop.1) leaves; `old` empty: it began at zero.
Expected rmsprop_square(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                        const Expected& old);
/// The buffer that (rmsprop.3) leaves, from the new second moment by (rmsprop.2); `old` empty: it began at zero.
Expected rmsprop_buffer(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                        const Expected& square, const Expected& old);
/// (rmsprop.4) from the new state; `buffer` empty without momentum. `rate` as the kernel holds it.
Expected rmsprop_parameter(const Declared& declared, const Choice& optimizer, const Expected& rate,
                           const Expected& gradient, const Expected& square, const Expected& buffer,
                           const Expected& parameter);

/// The same bit by bit: kernels/arithmetic.md.
Prediction predicted_square(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                            const Matrix<float>& old);
Prediction predicted_buffer(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                            const Matrix<float>& square, const Matrix<float>& old);
Prediction predicted_rmsprop_parameter(const Declared& declared, const Choice& optimizer, float rate,
                                       const Matrix<float>& gradient, const Matrix<float>& square,
                                       const Matrix<float>& buffer, const Matrix<float>& parameter);

}  // namespace tally::oracle
