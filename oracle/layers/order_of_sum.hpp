// In which order a kernel adds numbers, as data that a claim carries: steps from the first additions to the last. What
// counts is how many additions an addend passes through, for every number of addends; adding to nothing is no addition.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tally {

/// One step, of n partial sums that are left so far (at first the addends):
///   in_order_below m   fewer than m are added one after another from the first, and later steps find one sum; m or
///                      more stay
///   runs c             neighbours, c at a time, one after another from the first: ceil(n/c) are left
///   lanes l            l sums side by side, lane j adding j, j + l, ... one after another: min(n, l) are left
///   tree               in pairs, whichever, ceil(log2 n) levels: one is left
///   chunks c           only as the first step: every tensor is cut into chunks of c addends, the last one shorter; the
///                      steps up to `meet` are taken inside of each chunk
///   meet               what the chunks of all tensors came to are the partial sums of the steps that follow
/// What is left after the last step, or inside of a chunk at `meet`, may be added in any order.
struct SumStep {
  enum Kind { in_order_below, runs, lanes, tree, chunks, meet };
  Kind kind;
  std::int64_t number = 0;  // m, c or l
  friend bool operator==(const SumStep&, const SumStep&) = default;
};
using OrderOfSum = std::vector<SumStep>;

/// "in_order_below", "tree" and so on.
std::string name_of(SumStep::Kind kind);
/// Whether a number belongs to this step.
bool takes_a_number(SumStep::Kind kind);

/// What makes these steps no order; empty: nothing. A rule for every order above.
std::string wrong_with(const OrderOfSum& order);

/// The largest number of additions that one of `addends` passes through: of one sum, and of the sum over tensors of
/// these sizes. An order without steps is any order: n - 1. Throws std::logic_error for steps that are no order.
double additions_of(const OrderOfSum& order, double addends);
double additions_of(const OrderOfSum& order, const std::vector<double>& tensors);

}  // namespace tally
