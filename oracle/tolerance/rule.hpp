// What every bound rule shares: the exact side of a pass, and joining exact values with bounds.
#pragma once

#include <concepts>
#include <string_view>
#include <vector>

#include "oracle/tolerance/bounded.hpp"
#include "oracle/tolerance/bounds_only.hpp"
#include "oracle/tolerance/expected.hpp"

namespace tally::oracle {

/// Values and bounds in binary64: what a rule computes with. r and s are empty where all elements have none.
struct BoundedMatrix {
  Matrix<double> v, e, r, s;
  double sharing = 1;                       // as Expected's
  std::shared_ptr<Likeness> likeness = {};  // the same, of v, or of its transpose
  bool likeness_of_transpose = false;
  BoundedMatrix(Eigen::Index rows, Eigen::Index columns) : v(rows, columns), e(rows, columns) {}
  BoundedMatrix() = default;  // for a rule that assigns all four whole
  /// The binary64 view of an expectation (its magnitudes: see bounded.hpp on what pays for the rounding of v).
  explicit BoundedMatrix(const Expected& x) : v(x.v.cast<double>()), e(x.e), r(x.r), s(x.s), likeness(x.likeness) {
    if (sources().input != 1) e = e.unaryExpr(&incoming);
  }

  Eigen::Index rows() const { return v.rows(); }
  Eigen::Index cols() const { return v.cols(); }
  bool random() const { return s.size() != 0; }
  Bounded at(Eigen::Index i, Eigen::Index j) const {
    return random() ? Bounded{v(i, j), e(i, j), r(i, j), s(i, j)} : Bounded{v(i, j), e(i, j)};
  }
  void set(Eigen::Index i, Eigen::Index j, Bounded x) { set(i * cols() + j, x); }
  /// Element i, row by row.
  void set(Eigen::Index i, Bounded x) {
    v.data()[i] = x.v;
    e.data()[i] = x.e;
    if (!random() && x.s > 0) {
      r.setZero(rows(), cols());
      s.setZero(rows(), cols());
    }
    if (!random()) return;
    r.data()[i] = x.r;
    s.data()[i] = x.s;
  }
};

/// One element of that view.
inline Bounded element(const Expected& x, Eigen::Index i, Eigen::Index j) {
  return {static_cast<double>(x.v(i, j)), incoming(x.e(i, j))};
}

/// The exact function's value with the rule's bound. The rule encloses the subject around its own binary64 value, so
/// the bound grows by the distance of the two: where a variance is all rounding, 1 / sqrt of it is far from the exact
/// one. Where the rule knows the subject to be non-finite, that is the value; where the exact function is not finite
/// and the rule cannot tell, the element is undecided. Without exact values (bounds_only) the rule's own magnitude is
/// the value.
Expected joined(Matrix<long double> exact, BoundedMatrix bound);

/// The same with the exact value still to be computed, which bounds_only() leaves out.
template <class Exact>
requires std::invocable<Exact> Expected joined(Exact&& exact, BoundedMatrix bound) {
  return joined(bounds_only() ? Matrix<long double>() : Matrix<long double>(exact()), std::move(bound));
}

/// The values of a pass, for the exact function. Keeps what Pass refers to.
class ExactPass {
 public:
  explicit ExactPass(const BoundPass& pass);
  const Pass<long double>& get() const { return pass_; }

 private:
  Tensors<long double> values_;
  Pass<long double> pass_;
};

/// The exact functions; empty matrices under bounds_only.
ForwardResult<long double> exact_forward(const BoundPass& pass, const Expected& x);
BackwardResult<long double> exact_backward(const BoundPass& pass, const Expected& x, const Expected& dy);
LossResult<long double> exact_loss_of(const Choice& loss, const Expected& y, const Matrix<long double>& target,
                                      const Matrix<long double>& item_weight, const Expected& row_factor);

/// A kernel's claim; a standard one (any order, nothing unusual) where the subject declares none.
const KernelClaim& claim_of(const Declared& declared, std::string_view operation);

/// The additions that an addend of a sum passes through, at most: of `n` addends, or of all elements of tensors of
/// these sizes. By the claim's number and by its steps; n - 1 where it declares neither.
double height_of(const KernelClaim& claim, double n);
double height_of(const KernelClaim& claim, const std::vector<double>& tensors);

/// Addends for sum_of(), in the order in which the kernel has them.
Addends addends_of(const KernelClaim& claim);
/// Their sum in an order that the claim allows.
Bounded sum_of(const Arithmetic& arithmetic, const KernelClaim& claim, const Addends& terms);

/// How far exp, log, tanh and erf of a kernel may err: as it claims, within 2 ulp where it claims nothing.
FunctionError functions_of(const KernelClaim& claim);

/// fp32, in which everything but a GEMM's accumulator is computed.
inline Arithmetic single() { return Arithmetic({24, -126, 127}); }

}  // namespace tally::oracle
