#include "oracle/tolerance/gemm.hpp"

namespace tally::oracle {
namespace {

constexpr double truncation_to_tf32 = 0x1p-10;

bool loses_operand_bits(const Declared& subject) { return subject.tf32 || subject.claims.flushes_subnormals; }

/// What the operand loses before it is multiplied: truncation to TF32, subnormals read as zero.
Matrix<double> operand_error(const Declared& subject, const BoundedMatrix& a) {
  Matrix<double> error = a.e;
  const double smallest_normal = std::ldexp(1, subject.storage.emin);
  const double share = sources().accumulation;
  for (Eigen::Index i = 0; i < error.size(); ++i) {
    const double magnitude = std::fabs(a.v.data()[i]) + a.e.data()[i];
    if (subject.tf32) error.data()[i] += share * (truncation_to_tf32 * magnitude + std::ldexp(1, -136));
    if (subject.claims.flushes_subnormals && std::fabs(a.v.data()[i]) - a.e.data()[i] < smallest_normal) {
      error.data()[i] += share * std::min(magnitude, smallest_normal);
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
  const double blocks = tensor_cores ? sources().accumulation * k * 0x1p-146 : 0;
  const double products = exact_products && !format.flushes_subnormals ? 0 : k * arithmetic.underflow();
  return {kappa, products * (1 + kappa) + blocks, arithmetic.threshold()};
}

bool is_zero(const Matrix<double>& e) { return (e.array() == 0).all(); }

bool has_undecided(const Matrix<double>& e) { return e.size() > 0 && !(e.maxCoeff() < infinite); }

/// Where a product is not finite, or an operand is undecided, the bound is 0 (certain) or infinite (undecided).
void settle_non_finite(const BoundedMatrix& a, const BoundedMatrix& b, BoundedMatrix& z) {
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    for (Eigen::Index j = 0; j < z.cols(); ++j) {
      if (std::isfinite(z.v(i, j)) && std::isfinite(z.e(i, j))) continue;
      const bool open = has_undecided(a.e.row(i)) || has_undecided(b.e.col(j));
      z.e(i, j) = open || std::isfinite(z.v(i, j)) ? infinite : 0;
    }
  }
}

}  // namespace

BoundedMatrix product(const Declared& subject, const BoundedMatrix& a, const BoundedMatrix& b) {
  BoundedMatrix z(a.rows(), b.cols());
  const Accumulation sum = accumulation(subject, static_cast<double>(a.cols()));
  const bool loses = loses_operand_bits(subject);
  const Matrix<double> more_a = loses ? operand_error(subject, a) : Matrix<double>(),
                       more_b = loses ? operand_error(subject, b) : Matrix<double>();
  const Matrix<double>&error_a = loses ? more_a : a.e, &error_b = loses ? more_b : b.e;
  Matrix<double> magnitude(z.rows(), z.cols());
  z.v.noalias() = a.v * b.v;
  if (is_zero(error_a) && is_zero(error_b)) {
    magnitude.noalias() = a.v.cwiseAbs() * b.v.cwiseAbs();
    z.e.setZero();
  } else {
    const Matrix<double> size_a = a.v.cwiseAbs(), size_b = b.v.cwiseAbs() + error_b;
    z.e.noalias() = error_a * size_b;
    z.e.noalias() += size_a * error_b;
    magnitude.noalias() = (size_a + error_a) * size_b;
  }
  const double limit = sum.threshold / (1 + sum.kappa);
  bool finite = true;
  for (Eigen::Index i = 0; i < z.e.size(); ++i) {
    const double e = (z.e.data()[i] + sum.kappa * magnitude.data()[i] + sum.underflow) * inflation;
    z.e.data()[i] = magnitude.data()[i] < limit ? e : infinite;
    finite = finite && std::fabs(z.v.data()[i]) + z.e.data()[i] < infinite;
  }
  if (!finite) settle_non_finite(a, b, z);
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
