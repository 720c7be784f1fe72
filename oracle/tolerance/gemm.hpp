// Matrix products in any order of addition: |subject - A B| <= E_prop + kappa |A||B| + underflow.
#pragma once

#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

/// A [m, k] times B [k, n], accumulated in the compute format, not yet stored. kappa, the error constant of the
/// accumulation over k terms, is (oracle/tolerance/accumulation.hpp)
///   gam(k, u)           one rounding a product and k - 1 additions, fused or not; gam(k - 1, u) where products are
///                       exact (16-bit operands in fp32); the declared height stands for k - 1 where it is smaller,
///   k 2^-F + 2^-23 ceil(k/L)   tensor cores with blocks of L products aligned to F bits; unknown: the widest of all,
/// and splits that meet in a narrower format a rounding each more. TF32 rounds each operand, 2^-10 or 2^-11 relative.
BoundedMatrix product(const Declared& declared, const BoundedMatrix& a, const BoundedMatrix& b);

/// The same added onto the old C [m, n] in one accumulation or one more addition (beta = 1), not yet stored.
BoundedMatrix product_onto(const Declared& declared, const BoundedMatrix& c, const BoundedMatrix& a,
                           const BoundedMatrix& b);

/// op(a) op(b) of what was read, with its exact value, from the floats themselves: the same bound. Nothing where an
/// operand loses bits on its way, a result is not finite, or more is asked of the values than their product.
struct ReadProduct {
  Matrix<long double> exact;  // empty under bounds_only()
  BoundedMatrix bound;
};
std::optional<ReadProduct> product_of_read(const Declared& declared, const FloatsRef& a, Side side_a,
                                           const FloatsRef& b, Side side_b);

/// The transpose.
BoundedMatrix transposed(const Expected& a);

/// Stores every element in the format.
BoundedMatrix stored(const Format& format, BoundedMatrix a);

/// The columns of `a` summed over its rows in fp32 ([1, n]), in an order within the claim. Float atomics on global
/// memory flush a subnormal addend and a subnormal sum.
BoundedMatrix column_sums(const BoundedMatrix& a, const KernelClaim& claim);

}  // namespace tally::oracle
