// The exact trajectory of a training problem at about 113 bits, a sample of its windows certified at 100 digits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/real/matrix.hpp"
#include "oracle/window/trajectory.hpp"

namespace tally {

/// Parameters after each window, by name, as 1 x n rows.
using ParameterPath = std::vector<std::map<std::string, oracle::Matrix<double>>>;

struct ExactPath {
  ParameterPath parameters;  // exact values rounded to double: 2^-53 relative, far below any drift shown
  std::uint64_t certified_windows = 0;
  bool agrees_at_100_digits = true;  // the sampled windows, from the same state, agree to 25 digits
};

ExactPath exact_path(const Case& c, oracle::Branch branch);

}  // namespace tally
