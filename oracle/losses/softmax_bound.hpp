// (cross_entropy.1) of one row by each form that a subject may declare.
#pragma once

#include <vector>

#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

/// With M = max z, s = sum exp(fl(z - M)) and l = fl(log s):
///   three_pass   nll = fl(l - fl(z - M)), p = fl(exp(fl(z - M)) / s)
///   online       the same, s gathered over blocks: where the maximum grows, s <- fl(s exp(fl(M - M'))); p is e / s or
///                e fl(1/s), from the rescaled exponentials or from fresh ones
///   lse          L = fl(M + l), nll = fl(L - z), p = exp(fl(z - L))
///   online_lse   both
struct SoftmaxForm {
  double height;    // of the sum's additions
  double rescales;  // rescalings a term of the sum may pass through
  bool by_quotient, by_lse;
  double quotient_roundings;
  FunctionError functions = documented(2);
};
/// Throws std::logic_error for a form without a bound.
SoftmaxForm softmax_form(const KernelClaim& claim, double classes);

/// nll_c and p_c of one row, and L = fl(M + l).
struct SoftmaxRow {
  std::vector<Bounded> nll, p;
  Bounded lse;
};
SoftmaxRow softmax_row(const Arithmetic& fp32, const SoftmaxForm& form, const BoundedMatrix& z, Eigen::Index row);

}  // namespace tally::oracle
