// Matrices over any scalar. A vector is a 1 x n matrix; a scalar 1 x 1.
#pragma once

#include <Eigen/Core>
#include <map>
#include <string>

#include "oracle/case/tensor.hpp"

namespace tally::oracle {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Tensors by name.
template <class T>
using Tensors = std::map<std::string, Matrix<T>>;

}  // namespace tally::oracle
