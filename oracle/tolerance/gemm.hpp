// Matrix products in any order of addition: |subject - A B| <= E_prop + kappa |A||B| + underflow.
#pragma once

#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

/// A [m, k] times B [k, n], accumulated in the compute format, not yet stored. kappa, the error constant of the
/// accumulation over k terms, is
///   gam(k, u)      one rounding a product and k - 1 additions, fused or not; gam(k - 1, u) where products are exact
///                  (16-bit operands in fp32); the declared height stands for k - 1 where it is smaller,
///   (2.5 k + 2) u  tensor cores of any generation: alignment and truncation, oracle/tolerance.md.
/// TF32 truncates each operand: 2^-10 relative.
BoundedMatrix product(const Declared& subject, const BoundedMatrix& a, const BoundedMatrix& b);

/// The transpose.
BoundedMatrix transposed(const BoundedMatrix& a);

/// Stores every element in the format.
BoundedMatrix stored(const Format& format, BoundedMatrix a);

/// The columns of `a` summed over its rows in fp32, in any order ([1, n]).
BoundedMatrix column_sums(const BoundedMatrix& a, double height);

}  // namespace tally::oracle
