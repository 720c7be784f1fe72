// What every bound rule shares: how many threads it may use, the exact side of a pass, joining exact values with
// bounds, and exact values from proven enclosures.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

#include "oracle/exact/exact.hpp"
#include "oracle/real/ball.hpp"
#include "oracle/real/threads.hpp"
#include "oracle/tolerance/bounded.hpp"
#include "oracle/tolerance/declared.hpp"
#include "oracle/tolerance/expected.hpp"

namespace tally::oracle {

// How many threads one rule may use, and work on groups that do not touch each other by them.

/// 1 unless set. What a rule gives is the same for any number.
int threads_of_rules();
void set_threads_of_rules(int threads);

/// f(group) for each of so many, some in other threads.
template <class F>
void over_groups(Eigen::Index groups, F&& f) {
  fixed::in_parts(groups, threads_of_rules(), [&](Eigen::Index first, Eigen::Index end) {
    for (Eigen::Index group = first; group < end; ++group) f(group);
  });
}

/// Values and bounds in binary64: what a rule computes with. r and s are empty where all elements have none.
struct BoundedMatrix {
  Matrix<double> v, e, r, s;
  double sharing = 1;                           // as Expected's
  std::shared_ptr<Similarity> similarity = {};  // the same, of v, or of its transpose
  bool similarity_of_transpose = false;
  BoundedMatrix(Eigen::Index rows, Eigen::Index columns) : v(rows, columns), e(rows, columns) {}
  BoundedMatrix() = default;  // for a rule that assigns all four whole
  /// The binary64 view of an expectation (its magnitudes: see bounded.hpp on what pays for the rounding of v).
  BoundedMatrix(const Declared& declared, const Expected& x)
      : v(x.v.cast<double>()), e(x.e), r(x.r), s(x.s), similarity(x.similarity) {
    read_by(declared);
  }
  /// The bounds as a rule reads them.
  void read_by(const Declared& declared) {
    if (declared.asked.sources.input != 1) e = e.unaryExpr([&](double each) { return declared.incoming(each); });
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
inline Bounded element(const Declared& declared, const Expected& x, Eigen::Index i, Eigen::Index j) {
  return {static_cast<double>(x.v(i, j)), declared.incoming(x.e(i, j))};
}

/// The exact function's value with the rule's bound. The rule encloses the subject around its own binary64 value, so
/// the bound grows by the distance of the two: where a variance is all rounding, 1 / sqrt of it is far from the exact
/// one. Where the rule knows the subject to be non-finite, that is the value; where the exact function is not finite
/// and the rule cannot tell, the element is undecided. Without exact values the rule's own magnitude is
/// the value.
Expected joined(const Declared& declared, Matrix<long double> exact, BoundedMatrix bound);

/// The same with the exact value still to be computed, where it is asked for.
template <class Exact>
requires std::invocable<Exact> Expected joined(const Declared& declared, Exact&& exact, BoundedMatrix bound) {
  return joined(declared, declared.bounds_only() ? Matrix<long double>() : Matrix<long double>(exact()),
                std::move(bound));
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

/// The exact functions; empty matrices where bounds alone are asked for.
ForwardResult<long double> exact_forward(const BoundPass& pass, const Expected& x);
BackwardResult<long double> exact_backward(const BoundPass& pass, const Expected& x, const Expected& dy);
LossResult<long double> exact_loss_of(const Choice& loss, const Declared& declared, const Expected& y,
                                      const Matrix<long double>& target, const Matrix<long double>& item_weight,
                                      const Expected& row_factor);

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
inline Arithmetic single(const Declared& declared) { return Arithmetic(declared, {24, -126, 127}); }

// Exact values from proven enclosures: the same rules with v in ball arithmetic in the place of long double, so that
// the two can be compared.

/// Every evaluation is counted.
ForwardResult<long double> certified_forward(CertifiedCount& count, const Pass<long double>& pass,
                                             const Matrix<long double>& x);
BackwardResult<long double> certified_backward(CertifiedCount& count, const Pass<long double>& pass,
                                               const Matrix<long double>& x, const Matrix<long double>& dy);
LossResult<long double> certified_loss(CertifiedCount& count, const Choice& loss, const Matrix<long double>& y,
                                       const Matrix<long double>& target, const Matrix<long double>& item_weight,
                                       const Matrix<long double>& row_factor);

/// The precisions of certified values in bits, and whether an enclosure is narrow enough at the one in force.
inline constexpr unsigned certifying_bits[] = {128, 256, 512, 1024, 2048};
bool narrow(const Nearest& held, long double largest);

/// The nearest long doubles of a tensor. Throws Undecided where one is not narrow.
Matrix<long double> nearest_of(const Matrix<Ball>& x);

}  // namespace tally::oracle
