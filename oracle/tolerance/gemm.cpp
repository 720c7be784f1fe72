#include "oracle/tolerance/gemm.hpp"

namespace tally::oracle {
namespace {

constexpr double truncation_to_tf32 = 0x1p-10;

/// What the operand loses before it is multiplied: truncation to TF32, subnormals read as zero.
Matrix<double> operand_error(const Declared& subject, const BoundedMatrix& a) {
  Matrix<double> error = a.e;
  const double smallest_normal = std::ldexp(1, subject.storage.emin);
  if (!subject.tf32 && !subject.claims.flushes_subnormals) return error;
  for (Eigen::Index i = 0; i < error.size(); ++i) {
    const double magnitude = std::fabs(a.v.data()[i]) + a.e.data()[i];
    if (subject.tf32) error.data()[i] += truncation_to_tf32 * magnitude + std::ldexp(1, -136);
    if (subject.claims.flushes_subnormals && std::fabs(a.v.data()[i]) - a.e.data()[i] < smallest_normal) {
      error.data()[i] += std::min(magnitude, smallest_normal);
    }
  }
  return error;
}

struct Accumulation {
  double kappa, underflow, threshold;
};

Accumulation accumulation(const Declared& subject, double k) {
  Format format = subject.compute;
  format.flushes_subnormals = subject.claims.flushes_subnormals;
  const Arithmetic arithmetic(format);
  const bool exact_products = subject.storage.p <= 11 && subject.compute.p == 24;
  const double declared_height = static_cast<double>(claim_of(subject, "gemm").height);
  const double additions = declared_height > 0 ? std::min(declared_height, k - 1) : k - 1;
  const bool tensor_cores = subject.claims.tensor_cores && (subject.storage.p <= 11 || subject.tf32);
  const double kappa = tensor_cores ? std::max((2.5 * k + 2) * arithmetic.u(), gam(k, arithmetic.u()))
                                    : gam(additions + (exact_products ? 0 : 1), arithmetic.u());
  const double blocks = tensor_cores ? k * 0x1p-146 : 0;
  const double products = exact_products && !format.flushes_subnormals ? 0 : k * arithmetic.underflow();
  return {kappa, products * (1 + kappa) + blocks, arithmetic.threshold()};
}

bool has_undecided(const Matrix<double>& e) { return e.size() > 0 && !(e.maxCoeff() < infinite); }

/// Of an inner product with an infinity: another factor may be 0, or the finite products may overflow to the other
/// infinity.
bool may_be_nan(const BoundedMatrix& a, Eigen::Index i, const BoundedMatrix& b, Eigen::Index j, double limit) {
  double finite = 0;
  for (Eigen::Index k = 0; k < a.cols(); ++k) {
    const Bounded x = a.at(i, k), y = b.at(k, j);
    if (infinity_meets_zero(x, y)) return true;
    if (std::isfinite(x.v) && std::isfinite(y.v)) finite += (std::fabs(x.v) + x.e) * (std::fabs(y.v) + y.e);
  }
  return !(finite < limit);
}

/// Where a product is not finite, or an operand is undecided, the bound is 0 (certain) or infinite (undecided).
void settle_non_finite(const BoundedMatrix& a, const BoundedMatrix& b, double limit, BoundedMatrix& z) {
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    for (Eigen::Index j = 0; j < z.cols(); ++j) {
      if (std::isfinite(z.v(i, j)) && std::isfinite(z.e(i, j))) continue;
      const bool open = has_undecided(a.e.row(i)) || has_undecided(b.e.col(j)) || may_be_nan(a, i, b, j, limit);
      z.e(i, j) = open || std::isfinite(z.v(i, j)) ? infinite : 0;
    }
  }
}

}  // namespace

BoundedMatrix product(const Declared& subject, const BoundedMatrix& a, const BoundedMatrix& b) {
  BoundedMatrix z(a.rows(), b.cols());
  const Accumulation sum = accumulation(subject, static_cast<double>(a.cols()));
  const Matrix<double> error_a = operand_error(subject, a), error_b = operand_error(subject, b);
  const Matrix<double> size_a = a.v.cwiseAbs(), size_b = b.v.cwiseAbs() + error_b;
  z.v.noalias() = a.v * b.v;
  z.e.noalias() = error_a * size_b;
  z.e.noalias() += size_a * error_b;
  Matrix<double> magnitude = (size_a + error_a) * size_b;
  z.e = ((z.e + sum.kappa * magnitude).array() + sum.underflow).matrix() * inflation;
  const double limit = sum.threshold / (1 + sum.kappa);
  z.e = (magnitude.array() < limit).select(z.e, infinite);
  settle_non_finite(a, b, limit, z);
  return z;
}

BoundedMatrix transposed(const BoundedMatrix& a) {
  BoundedMatrix t(a.cols(), a.rows());
  t.v = a.v.transpose();
  t.e = a.e.transpose();
  return t;
}

BoundedMatrix stored(const Format& format, BoundedMatrix a) {
  if (format.p == 24) return a;
  const Arithmetic arithmetic(format);
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < a.cols(); ++j) a.set(i, j, arithmetic.store(a.at(i, j)));
  }
  return a;
}

BoundedMatrix column_sums(const BoundedMatrix& a, double height) {
  const Arithmetic fp32 = single();
  BoundedMatrix sums(1, a.cols());
  for (Eigen::Index j = 0; j < a.cols(); ++j) {
    Addends terms;
    for (Eigen::Index i = 0; i < a.rows(); ++i) terms.add(a.at(i, j));
    sums.set(0, j, fp32.sum(terms, height));
  }
  return sums;
}

}  // namespace tally::oracle
