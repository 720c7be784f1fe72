// What adding up costs where a claim says in which order: not only how many additions the deepest addend passes
// through, but how many each does, and how large the partial sums are.
#pragma once

#include <vector>

#include "oracle/layers/order_of_sum.hpp"

namespace tally::oracle {

/// The cost of a sum of addends of sizes |x|, every addition rounding by at most u of its result.
struct SumCost {
  double growth = 0;   // sum of ((1 + u)^d - 1) |x|, d the additions that x passes through: bounds the sum's error
  double squares = 0;  // of the sizes of partial sums, those that are made side by side taken together: like addends
                       // have like partial sums, whose roundings may be one
};

/// The cost of any order in which an addend passes through at most `height` additions, of sizes that add up to `size`.
SumCost cost_of(double height, double u, double size);

/// The cost of an order with steps, for the sizes of one sum in the order in which its kernel has them, or of a sum
/// over tensors, in whatever order those come. What the steps leave open (which partial sums a tree pairs, how what is
/// left is added) takes its largest cost.
SumCost cost_of(const OrderOfSum& order, double u, const std::vector<double>& sizes);
SumCost cost_of(const OrderOfSum& order, double u, const std::vector<std::vector<double>>& tensors);

}  // namespace tally::oracle
