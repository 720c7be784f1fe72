// cross_entropy (kernels/arithmetic.md). Inputs within epsilon move log-softmax by at most 2 epsilon and a probability
// by the factor e^(2 epsilon); the rounding is bounded at the subject's own logits (oracle/tolerance.md).
#include <vector>

#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {
namespace {

constexpr double ulps_of_functions = 2;

/// nll_c and p_c of one row.
struct RowTerms {
  std::vector<Bounded> nll, p;
};

/// A row that holds something non-finite: max z = inf or NaN makes every difference NaN; -inf alone stays open.
RowTerms non_finite_row(const BoundedMatrix& z, Eigen::Index i) {
  bool poisoned = false, open = false;
  for (Eigen::Index c = 0; c < z.cols(); ++c) {
    poisoned = poisoned || std::isnan(z.v(i, c)) || z.v(i, c) == infinite;
    open = open || !decided(z.at(i, c));
  }
  const Bounded all{NAN, poisoned && !open ? 0 : infinite};
  const auto classes = static_cast<std::size_t>(z.cols());
  return {std::vector<Bounded>(classes, all), std::vector<Bounded>(classes, all)};
}

RowTerms row_terms(const Arithmetic& fp32, const BoundedMatrix& z, Eigen::Index i, double height) {
  const auto classes = static_cast<double>(z.cols());
  const double u = fp32.u(), rho = fp32.relative_error_of(ulps_of_functions),
               floor = fp32.least_error_of(ulps_of_functions);
  const double most = z.v.row(i).maxCoeff(), epsilon = z.e.row(i).maxCoeff();
  if (!z.v.row(i).allFinite() || !(epsilon < infinite)) return non_finite_row(z, i);
  const Eigen::ArrayXd d = z.v.row(i).array() - most, exps = d.exp();
  const double s = exps.sum();
  const auto argument_rounding = (u * (d.abs() + 2 * epsilon)).unaryExpr([](double t) { return std::expm1(t); });
  const Eigen::ArrayXd rho_exp = (1 + rho) * argument_rounding + rho;
  const double growth = gam(height > 0 ? std::min(height, classes - 1) : classes - 1, u);
  const double terms = (exps * rho_exp).sum() / s * std::exp(2 * epsilon) + classes * floor;
  const double rho_sum = terms * (1 + growth) + growth;
  if (!(rho_sum < 1)) {
    const auto all = std::vector<Bounded>(static_cast<std::size_t>(z.cols()), {0, infinite});
    return {all, all};
  }
  const double spread = -std::log1p(-rho_sum);
  const double e_log = spread + rho * (std::fabs(std::log(s)) + 2 * epsilon + spread) + floor;
  RowTerms row;
  for (Eigen::Index c = 0; c < z.cols(); ++c) {
    const double nll = std::log(s) - d[c], p = exps[c] / s;
    const double argued = e_log + u * (std::fabs(d[c]) + 2 * epsilon);
    row.nll.push_back({nll, (2 * epsilon + argued + u * (nll + 2 * epsilon + argued)) * inflation});
    const double quotient = (rho_exp[c] + rho_sum) / (1 - rho_sum), relative = quotient * (1 + u) + u;
    const double moved = p * (std::expm1(2 * epsilon) * (1 + relative) + relative);
    row.p.push_back({p, (std::min(moved, std::max(p, 1 - p) + relative) + 4 * floor) * inflation});
  }
  return row;
}

/// The derivative's weights a_c = (1 - eps) w_t [c = t] + (eps / C) w_c and their sum W, in fp32.
class ClassWeights {
 public:
  ClassWeights(const Choice& loss, double classes)
      : classes_(classes),
        smooth_(number<long double>(loss.number("label_smoothing")) != 0),
        smoothing_(constant(loss.number("label_smoothing"))) {
    for (const Decimal& w : loss.numbers("weight")) weights_.push_back(constant(w));
  }

  bool smooth() const { return smooth_; }

  Bounded of(std::size_t c, std::size_t target) const {
    if (!smooth()) return c == target ? weight(target) : Bounded{};
    const Bounded kept = fp32_.mul(fp32_.sub({1, 0}, smoothing_), weight(target));
    const Bounded spread = fp32_.mul(fp32_.div(smoothing_, {classes_, 0}), weight(c));
    return c == target ? fp32_.add(kept, spread) : spread;
  }

  Bounded total(std::size_t target) const {
    if (!smooth()) return weight(target);
    Addends terms;
    for (std::size_t c = 0; c < static_cast<std::size_t>(classes_); ++c) terms.add(of(c, target));
    return fp32_.sum(terms);
  }

 private:
  Bounded weight(std::size_t c) const { return weights_.empty() ? Bounded{1, 0} : weights_.at(c); }

  double classes_;
  bool smooth_;
  Bounded smoothing_;
  std::vector<Bounded> weights_;
  Arithmetic fp32_ = single();
};

/// sum_c a_c nll_c, also where the kernel keeps (1 - eps) w_t nll_t apart from (eps / C) sum_c w_c nll_c: at most C + 6
/// roundings a term.
Bounded row_loss(const Arithmetic& fp32, const ClassWeights& weights, const RowTerms& row, std::size_t target) {
  if (!weights.smooth()) return fp32.mul(weights.of(target, target), row.nll[target]);
  Addends terms;
  for (std::size_t c = 0; c < row.nll.size(); ++c) {
    const double a = weights.of(c, target).v;
    terms.add({a * row.nll[c].v, std::fabs(a) * row.nll[c].e});
  }
  if (!std::isfinite(terms.v) || !(terms.e < infinite)) return {terms.v, terms.e < infinite ? 0 : infinite};
  return {terms.v, terms.e + gam(terms.count + 6, fp32.u()) * terms.magnitude};
}

ExpectedLoss evaluate(const Choice& loss, const Declared& subject, const Expected& y, const Matrix<long double>& target,
                      const Matrix<long double>& item_weight, const Expected& row_factor) {
  const Arithmetic fp32 = single(), storage(subject.storage);
  const auto height = static_cast<double>(claim_of(subject, "cross_entropy").height);
  const auto ignored = static_cast<long double>(loss.integer("ignore_index"));
  const ClassWeights weights(loss, static_cast<double>(y.v.cols()));
  const BoundedMatrix z(y), factor(row_factor);
  BoundedMatrix losses(1, z.rows()), dz(z.rows(), z.cols());
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    losses.set(0, i, {});
    dz.v.row(i).setZero();
    dz.e.row(i).setZero();
    if (target(0, i) == ignored) continue;
    const auto t = static_cast<std::size_t>(target(0, i));
    const RowTerms row = row_terms(fp32, z, i, height);
    const Bounded total = weights.total(t);
    losses.set(0, i, row_loss(fp32, weights, row, t));
    for (std::size_t c = 0; c < row.p.size(); ++c) {
      const Bounded q = fp32.sub(fp32.mul(total, row.p[c]), weights.of(c, t));
      dz.set(i, static_cast<Eigen::Index>(c), storage.store(fp32.mul(factor.at(0, i), q)));
    }
  }
  const auto exact = exact_loss_of(loss, y, target, item_weight, row_factor);
  Expected loss_row = joined(exact.loss, losses), gradient = joined(exact.dy, dz);
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    if (target(0, i) != ignored) continue;  // exactly zero, whatever the logits are
    loss_row.v(0, i) = 0;
    loss_row.e(0, i) = 0;
    gradient.v.row(i).setZero();
    gradient.e.row(i).setZero();
  }
  return {std::move(loss_row), std::move(gradient)};
}

const RegisterLossBoundRule registered("cross_entropy", {evaluate});

}  // namespace
}  // namespace tally::oracle
