// Matrix products in any order of addition, what their additions cost, and the last layer and its loss as one. Defined
// in gemm.cpp, accumulation.cpp.
#pragma once

#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

// What the additions of a GEMM cost: |accumulated - sum a b| <= kappa sum |a||b| + absolute, by the path that a subject
// declares. Derivations: oracle/variants.md, "Accumulation in a GEMM".

/// One block FMA of a generation of tensor cores: `terms` products and the accumulator, each truncated to
/// `fraction_bits` below the largest exponent, summed exactly, rounded once (fp32: toward zero; fp16: to nearest).
struct TensorCore {
  double terms, fraction_bits;
};

/// The row of a generation; where several instruction shapes exist, the fewest terms. Throws std::logic_error for a
/// generation without a row. "unknown" has the widest of all.
TensorCore tensor_core(const std::string& generation, bool tf32);

/// True where the subject's GEMMs may run on tensor cores.
bool on_tensor_cores(const Declared& declared);

struct Accumulation {
  double kappa, absolute, threshold;
  // The random part of kappa: additions rounded to nearest, and half of what known tensor cores truncate
  // (oracle/spread.md).
  double random = 0;
  double spread = 0;  // variance proxy per squared magnitude, of addends none of which are alike
};

/// Over k products; with `onto` the old result is one addend more (beta = 1).
Accumulation accumulation(const Declared& declared, double k, bool onto = false);

/// Relative rounding of one TF32 operand: 2^-10 truncated or unknown, 2^-11 to nearest.
double tf32_roundoff(const Claims& claims);

// Matrix products in any order of addition: |subject - A B| <= E_prop + kappa |A||B| + underflow.

/// A [m, k] times B [k, n], accumulated in the compute format, not yet stored. kappa, the error constant of the
/// accumulation over k terms, is (oracle/tolerance/gemm.hpp)
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
  Matrix<long double> exact;  // empty where bounds alone are asked for
  BoundedMatrix bound;
};
std::optional<ReadProduct> product_of_read(const Declared& declared, const FloatsRef& a, Side side_a,
                                           const FloatsRef& b, Side side_b);

/// The transpose.
BoundedMatrix transposed(const Declared& declared, const Expected& a);

/// Stores every element in the format.
BoundedMatrix stored(const Declared& declared, const Format& format, BoundedMatrix a);

/// The columns of `a` summed over its rows in fp32 ([1, n]), in an order within the claim. Float atomics on global
/// memory flush a subnormal addend and a subnormal sum.
BoundedMatrix column_sums(const Declared& declared, const BoundedMatrix& a, const KernelClaim& claim);

// The last linear layer and the softmax cross-entropy as one, whose logits are fp32 and leave no tap (claim
// `head_loss`). Derivation: oracle/variants.md, "Head and loss as one".

/// Whether the subject runs the two as one.
bool fuses_head_and_loss(const Declared& declared);

// The rules of such a subject, as linear's and cross_entropy's own.

/// The logits, fp32.
ExpectedForward head_forward(const BoundPass& pass, const Expected& x);
/// Each row's loss, and the logits' gradients, fp32.
ExpectedLoss head_loss(const Choice& loss, const Declared& declared, const Expected& y,
                       const Matrix<long double>& target, const Matrix<long double>& item_weight,
                       const Expected& row_factor);
/// dx and the parameters' gradients, stored.
ExpectedBackward head_backward(const BoundPass& pass, const Expected& x, const Expected& dy);

}  // namespace tally::oracle
