// cross_entropy (kernels/arithmetic.md): softmax_bound.hpp gives each row's terms, the loss and its gradient follow.
#include "oracle/losses/softmax_bound.hpp"
#include "oracle/tolerance/constants.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {
namespace {

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
    return shared(c == target ? fp32_.add(kept, spread) : spread);
  }

  Bounded total(std::size_t target) const {
    if (!smooth()) return weight(target);
    Addends terms;
    for (std::size_t c = 0; c < static_cast<std::size_t>(classes_); ++c) terms.add(of(c, target));
    return shared(fp32_.sum(terms));
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
Bounded row_loss(const Arithmetic& fp32, const ClassWeights& weights, const SoftmaxRow& row, std::size_t target) {
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
  const SoftmaxForm form = softmax_form(claim_of(subject, "cross_entropy"), static_cast<double>(y.v.cols()));
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
    const SoftmaxRow row = softmax_row(form, z, i);
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
