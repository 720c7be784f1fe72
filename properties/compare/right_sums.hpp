// Whether right sums of the same addends show what the statistical lens found: its model is then false of this data.
#pragma once

#include "properties/compare/evaluation.hpp"
#include "properties/compare/spread.hpp"

namespace tally {

/// By how much each test of the lens finds a right kernel to deviate, the most in any of the orders that are tried
/// (oracle/tolerance/tried_order.hpp). Calls the rule once an order: for a finding that would count.
Leans leans_of(const Output& output, const oracle::Expected& expected, const Tensor& got,
               const std::vector<Direction>& directions);

}  // namespace tally
