// Sums that are added up for real, in fp32 and in orders that a right kernel may take. The statistical lens assumes
// that the errors of additions are mean-zero; whether this holds of given addends, a few right sums of them show
// (oracle/spread.md, "Right sums of the same addends").
#pragma once

#include <vector>

#include "oracle/layers/order_of_sum.hpp"
#include "oracle/real/matrix.hpp"

namespace tally::oracle {

struct TriedOrder {
  OrderOfSum steps;         // what they leave is added one after another
  bool backwards = false;   // from the last addend to the first
  bool as_claimed = false;  // the claim's steps instead, where it has some for one tensor
};

/// One after another, backwards, in pairs, by 32 lanes and by 8 runs of neighbours, and as the claim says.
const std::vector<TriedOrder>& tried_orders();

/// The order in which rules now add up, in this thread; nullptr: none, a rule's value is the formula's.
const TriedOrder* tried_order();

/// In this thread, until the block ends. The order must last.
class TriedOrderScope {
 public:
  explicit TriedOrderScope(const TriedOrder& order);
  ~TriedOrderScope();
  TriedOrderScope(const TriedOrderScope&) = delete;
  TriedOrderScope& operator=(const TriedOrderScope&) = delete;

 private:
  const TriedOrder* before_;
};

/// The sums of the columns of [addends, sums], each addition rounded to fp32: [1, sums]. `claimed` are the steps of the
/// claim.
Matrix<float> added(const TriedOrder& order, const OrderOfSum& claimed, Matrix<float> addends);

/// The same of one sum.
double added(const TriedOrder& order, const OrderOfSum& claimed, const std::vector<double>& addends);

/// A [m, k] times B [k, n], onto C [m, n] where that is not empty: products rounded to fp32 and then added.
Matrix<double> multiplied(const TriedOrder& order, const OrderOfSum& claimed, const Matrix<double>& c,
                          const Matrix<double>& a, const Matrix<double>& b);

}  // namespace tally::oracle
