// What the norm over all gradients adds up, tensor by tensor: for gradients that are not at hand together.
// Defined in norm_terms.cpp.
#pragma once

#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/tolerance/expected.hpp"

namespace tally::oracle {

/// Sums over elements v with error bounds e. A sum over several parts is the sum of theirs.
struct NormTerms {
  long double power_sum = 0;  // (clip.1) before its root: Σ|v|^p, or the largest |v|
  double largest_e = 0, sum_e = 0, squares_e = 0;
  double sum = 0, squares = 0;  // of |v| + e
  bool finite = true;           // every v is
  std::vector<double> counts;   // of elements, tensor by tensor

  double count() const;
  /// One tensor more, by the norm that `clip` takes.
  void add(const Choice& clip, const Expected& gradient);
  /// The terms of further tensors.
  void add(const Choice& clip, const NormTerms& more);
  /// The terms of every element times `factor`, a scalar, rounded to fp32 as `scaled` bounds it.
  NormTerms times(const Choice& clip, const Expected& factor) const;
};

/// The terms of the 2-norm where an observer who saw all `count` elements, fp32 or narrower, added their squares up in
/// binary64 in some order: not finite where one of them is not.
NormTerms terms_of_squares(double count, double sum_of_squares);

}  // namespace tally::oracle
