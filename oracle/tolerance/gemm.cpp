// Matrix products in any order of addition, and the last layer and its loss as one.
#include "oracle/tolerance/gemm.hpp"

#include "oracle/tolerance/rule.hpp"
#include "oracle/tolerance/summation.hpp"

namespace tally::oracle {
namespace {

bool loses_operand_bits(const Declared& declared) { return declared.tf32 || declared.claims.flushes_subnormals; }

/// What the operand loses before it is multiplied: rounding to TF32, subnormals of the compute format read as zero.
/// From the last TF32 number on, rounding to nearest may give infinity.
Matrix<double> operand_error(const Declared& declared, const BoundedMatrix& a) {
  Matrix<double> error = a.e;
  const double smallest_normal = std::ldexp(1, declared.compute.emin), roundoff = tf32_roundoff(declared.claims);
  const double share = declared.asked.sources.accumulation;
  const bool may_overflow = declared.tf32 && declared.claims.tf32_rounding != "truncate";
  for (Eigen::Index i = 0; i < error.size(); ++i) {
    const double magnitude = std::fabs(a.v.data()[i]) + a.e.data()[i];
    if (declared.tf32) error.data()[i] += share * (roundoff * magnitude + std::ldexp(1, -136));
    if (may_overflow && magnitude >= 0x1p128 - 0x1p116) error.data()[i] = infinite;
    if (declared.claims.flushes_subnormals && std::fabs(a.v.data()[i]) - a.e.data()[i] < smallest_normal) {
      error.data()[i] += share * std::min(magnitude, smallest_normal);
    }
  }
  return error;
}

/// |A||B| as the accumulation sees it. Tensor cores align a product as if a subnormal operand had the smallest normal
/// exponent.
Matrix<double> accumulated_size(const Declared& declared, const Matrix<double>& a, const Matrix<double>& b) {
  if (!on_tensor_cores(declared)) return a * b;
  const double smallest_normal = std::ldexp(1, declared.storage.emin);
  const auto aligned = [=](double x) { return x == 0 ? 0 : std::max(x, smallest_normal); };
  return Matrix<double>(a.unaryExpr(aligned)) * Matrix<double>(b.unaryExpr(aligned));
}

/// The operands' random parts and the accumulation's own.
void add_random_part(const Declared& declared, const BoundedMatrix& a, const BoundedMatrix& b, const Accumulation& sum,
                     const Matrix<double>& magnitude, BoundedMatrix& z) {
  const double unit_roundoff = declared.compute.unit_roundoff();
  z.r = sum.random * magnitude;
  z.s = sum.spread * magnitude.cwiseAbs2();
  if (sum.spread > 0 && declared.counts_alike()) {
    const ProductOperand left{a.v, false, a.similarity.get(), a.similarity_of_transpose},
        right{b.v, true, b.similarity.get(), b.similarity_of_transpose};
    const Eigen::ArrayXd of_a = left.alike_within(unit_roundoff), of_b = right.alike_within(unit_roundoff);
    for (Eigen::Index i = 0; i < z.s.rows(); ++i) {
      for (Eigen::Index j = 0; j < z.s.cols(); ++j) z.s(i, j) *= std::min(of_a[i], of_b[j]);
    }
    z.sharing = shared_addends(left, right, unit_roundoff);
  }
  if (b.random()) {
    z.r.noalias() += a.v.cwiseAbs() * b.r;
    z.s.noalias() += a.v.cwiseAbs2() * b.s;
  }
  if (a.random()) {
    z.r.noalias() += a.r * b.v.cwiseAbs();
    z.s.noalias() += a.s * b.v.cwiseAbs2();
  }
}

bool is_zero(const Matrix<double>& e) { return (e.array() == 0).all(); }

bool has_undecided(const Matrix<double>& e) { return e.size() > 0 && !(e.maxCoeff() < infinite); }

/// Whether an inner product with an infinity may be NaN: another factor may be 0, or the finite products may overflow
/// to the other infinity.
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

/// A B, and the old C where there is one.
BoundedMatrix multiplied(const Declared& declared, const BoundedMatrix* c, const BoundedMatrix& a,
                         const BoundedMatrix& b) {
  BoundedMatrix z;
  z.v.resize(a.rows(), b.cols());
  z.e.resize(a.rows(), b.cols());
  const Accumulation sum = accumulation(declared, static_cast<double>(a.cols()), c != nullptr);
  const bool loses = loses_operand_bits(declared);
  const Matrix<double> more_a = loses ? operand_error(declared, a) : Matrix<double>(),
                       more_b = loses ? operand_error(declared, b) : Matrix<double>();
  const Matrix<double>&error_a = loses ? more_a : a.e, &error_b = loses ? more_b : b.e;
  Matrix<double> magnitude;
  z.v.noalias() = a.v * b.v;
  if (is_zero(error_a) && is_zero(error_b)) {
    magnitude = accumulated_size(declared, a.v.cwiseAbs(), b.v.cwiseAbs());
    z.e.setZero();
  } else {
    const Matrix<double> size_a = a.v.cwiseAbs(), size_b = b.v.cwiseAbs() + error_b;
    z.e.noalias() = error_a * size_b;
    z.e.noalias() += size_a * error_b;
    magnitude = accumulated_size(declared, size_a + error_a, size_b);
  }
  if (c != nullptr) {
    z.v += c->v;
    z.e += c->e;
    magnitude += c->v.cwiseAbs() + c->e;
  }
  if (declared.with_spread()) add_random_part(declared, a, b, sum, magnitude, z);
  if (c != nullptr && z.random() && c->random()) {
    z.r += c->r;
    z.s += c->s;
  }
  if (declared.asked.order != nullptr && sum.spread > 0) {
    const OrderOfSum& claimed = claim_of(declared, "gemm").additions;
    z.v = multiplied(*declared.asked.order, claimed, c != nullptr ? c->v : Matrix<double>(), a.v, b.v);
  }
  const double limit = sum.threshold / (1 + sum.kappa);
  bool finite = true;
  for (Eigen::Index i = 0; i < z.e.size(); ++i) {
    const double e = (z.e.data()[i] + sum.kappa * magnitude.data()[i] + sum.absolute) * inflation;
    z.e.data()[i] = magnitude.data()[i] < limit ? e : infinite;
    finite = finite && std::fabs(z.v.data()[i]) + z.e.data()[i] < infinite;
  }
  if (!finite) settle_non_finite(a, b, limit, z);
  if (c != nullptr) z.e = (c->e.array() < infinite).select(z.e, infinite);
  return z;
}

}  // namespace

std::optional<ReadProduct> product_of_read(const Declared& declared, const FloatsRef& a, Side side_a,
                                           const FloatsRef& b, Side side_b) {
  const bool more_is_asked =
      declared.counts_alike() || declared.asked.order != nullptr || declared.asked.certified != nullptr;
  if (loses_operand_bits(declared) || on_tensor_cores(declared) || more_is_asked) return {};
  FloatProduct floats = float_product(a, side_a, b, side_b);
  const auto terms = static_cast<double>(side_a == Side::as_it_is ? a.cols() : a.rows());
  const Accumulation sum = accumulation(declared, terms);
  const double limit = sum.threshold / (1 + sum.kappa);
  ReadProduct product;
  BoundedMatrix& z = product.bound;
  if (!declared.bounds_only()) product.exact = floats.value.cast<long double>() + floats.rest.cast<long double>();
  z.v = floats.value + floats.rest;
  z.e = (sum.kappa * floats.magnitude.array() + sum.absolute) * inflation;
  const bool inside = z.e.size() == 0 || (floats.magnitude.maxCoeff() < limit && floats.magnitude.allFinite());
  if (!inside) return {};
  if (declared.with_spread()) {
    z.r = sum.random * floats.magnitude;
    z.s = sum.spread * floats.magnitude.cwiseAbs2();
  }
  return product;
}

BoundedMatrix product(const Declared& declared, const BoundedMatrix& a, const BoundedMatrix& b) {
  return multiplied(declared, nullptr, a, b);
}

BoundedMatrix product_onto(const Declared& declared, const BoundedMatrix& c, const BoundedMatrix& a,
                           const BoundedMatrix& b) {
  return multiplied(declared, &c, a, b);
}

BoundedMatrix transposed(const Declared& declared, const Expected& a) {
  BoundedMatrix t;
  t.v = a.v.transpose().cast<double>();
  t.e = a.e.transpose();
  t.r = a.r.transpose();
  t.s = a.s.transpose();
  t.similarity = a.similarity;
  t.similarity_of_transpose = true;
  t.read_by(declared);
  return t;
}

BoundedMatrix stored(const Declared& declared, const Format& format, BoundedMatrix a) {
  if (format.p == 24) return a;
  const Arithmetic arithmetic(declared, format);
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < a.cols(); ++j) a.set(i, j, arithmetic.store(a.at(i, j)));
  }
  return a;
}

BoundedMatrix column_sums(const Declared& declared, const BoundedMatrix& a, const KernelClaim& claim) {
  const Arithmetic fp32 = single(declared);
  const double flushed = claim.global_float_atomics ? fp32.accumulated(0x1p-125) : 0;
  BoundedMatrix sums(1, a.cols());
  for (Eigen::Index j = 0; j < a.cols(); ++j) {
    Addends terms = addends_of(claim);
    for (Eigen::Index i = 0; i < a.rows(); ++i) terms.add_apart(a.at(i, j));
    Bounded sum = sum_of(fp32, claim, terms);
    if (std::isfinite(sum.v)) sum.e += terms.count * flushed;
    sums.set(0, j, sum);
  }
  if (declared.counts_alike()) sums.sharing = shared_addends_of_columns(a.v, fp32.u());
  return sums;
}

namespace {

constexpr const char* fused = "head_loss";

/// What the subject declares of the two inside: products, sums and logits in fp32, in any order that the claim allows,
/// with no operand narrowed or flushed.
class Inside {
 public:
  explicit Inside(const Declared& declared)
      : claims_(claims_inside(declared)),
        declared_{claims_, format_of(Dtype::fp32), format_of(Dtype::fp32), declared.accumulate, declared.master,
                  false,   declared.asked} {}
  const Declared& get() const { return declared_; }
  BoundPass pass(const BoundPass& outer) const {
    return {outer.layer, outer.tensors, outer.cut, declared_, outer.decisions, outer.gives_dx, outer.others};
  }

 private:
  static Claims claims_inside(const Declared& declared) {
    const KernelClaim& head = claim_of(declared, fused);
    KernelClaim product{.variant = head.variant, .height = head.height};
    product.additions = head.additions;
    Claims claims;
    claims.kernels["gemm"] = claims.kernels["linear.bias_gradient"] = product;
    claims.kernels["cross_entropy"] = head;
    claims.constants = declared.claims.constants;
    return claims;
  }

  Claims claims_;
  Declared declared_;
};

/// What was added in fp32, stored.
Expected stored(const Declared& declared, Expected sums) {
  BoundedMatrix bound;
  bound.v = sums.v.cast<double>();
  bound.e = sums.e;
  bound.r = sums.r;
  bound.s = sums.s;
  return joined(declared, std::move(sums.v), oracle::stored(declared, declared.storage, std::move(bound)));
}

}  // namespace

bool fuses_head_and_loss(const Declared& declared) { return declared.claims.kernels.contains(fused); }

ExpectedForward head_forward(const BoundPass& pass, const Expected& x) {
  const Inside inside(pass.declared);
  return bound_rule("linear").forward(inside.pass(pass), x);
}

ExpectedLoss head_loss(const Choice& loss, const Declared& declared, const Expected& y,
                       const Matrix<long double>& target, const Matrix<long double>& item_weight,
                       const Expected& row_factor) {
  const Inside inside(declared);
  return loss_bound_rule("cross_entropy").evaluate(loss, inside.get(), y, target, item_weight, row_factor);
}

ExpectedBackward head_backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const Inside inside(pass.declared);
  ExpectedBackward sums = bound_rule("linear").backward(inside.pass(pass), x, dy);
  if (sums.dx.v.size() != 0) sums.dx = stored(pass.declared, std::move(sums.dx));
  for (auto& [name, sum] : sums.parameters) sum = stored(pass.declared, std::move(sum));
  return sums;
}

}  // namespace tally::oracle
