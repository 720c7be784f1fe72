// State that begins at zero: an empty matrix stands for it before the first step.
#pragma once

#include "oracle/tolerance/expected.hpp"

namespace tally::oracle {

inline Expected zeros_like(const Expected& x) {
  return {Matrix<long double>::Zero(x.v.rows(), x.v.cols()), Matrix<double>::Zero(x.v.rows(), x.v.cols())};
}

/// Element i of the state before the step.
inline float begun_at_zero(const Matrix<float>& old, Eigen::Index i) { return old.size() == 0 ? 0.0F : old.data()[i]; }

}  // namespace tally::oracle
