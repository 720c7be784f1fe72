// SGD with bounds, and bit by bit.
#pragma once

#include "oracle/tolerance/as_written.hpp"
#include "oracle/tolerance/expected.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {

/// The buffer that (sgd.1) leaves; `old` empty where there is none yet.
Expected sgd_momentum(const Declared& declared, const Choice& optimizer, const Expected& gradient, const Expected& old);
/// (sgd.3) along the direction of (sgd.2); `momentum` is the new buffer, empty without momentum. `rate` as the kernel
/// holds it.
Expected sgd_parameter(const Declared& declared, const Choice& optimizer, const Expected& rate,
                       const Expected& gradient, const Expected& momentum, const Expected& parameter);

/// The same bit by bit: kernels/arithmetic.md.
Prediction predicted_sgd_momentum(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                                  const Matrix<float>& old);
Prediction predicted_sgd_parameter(const Declared& declared, const Choice& optimizer, float rate,
                                   const Matrix<float>& gradient, const Matrix<float>& momentum,
                                   const Matrix<float>& parameter);

}  // namespace tally::oracle
