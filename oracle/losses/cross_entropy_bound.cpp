// cross_entropy: softmax_bound.hpp gives each row's (cross_entropy.1), from which (cross_entropy.2) and
// (cross_entropy.3) follow by the operations of kernels/arithmetic.md.
#include "oracle/case/z_loss.hpp"
#include "oracle/losses/softmax_bound.hpp"
#include "oracle/tolerance/constants.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle::cross_entropy_bound {
namespace {

/// The a_c of (cross_entropy.2) and their sum W, in fp32.
class ClassWeights {
 public:
  ClassWeights(const Declared& declared, const Choice& loss, double classes) : classes_(classes) {
    const Decimal& smoothing = loss.number("label_smoothing");
    const auto exact = number<long double>(smoothing);
    smooth_ = exact != 0;
    keep_ = one_minus(declared, smoothing);
    spread_ = derived_constant(declared, exact / static_cast<long double>(classes),
                               fp32_.div(constant(smoothing), {classes_, 0}));
    for (const Decimal& w : loss.numbers("weight")) weights_.push_back(constant(w));
  }

  bool smooth() const { return smooth_; }
  Bounded keep() const { return keep_; }      // 1 - eps
  Bounded spread() const { return spread_; }  // eps / C
  Bounded weight(std::size_t c) const { return weights_.empty() ? Bounded{1, 0} : weights_.at(c); }

  Bounded of(std::size_t c, std::size_t target) const {
    if (!smooth()) return c == target ? weight(target) : Bounded{};
    const Bounded kept = fp32_.mul(keep_, weight(target)), spread = fp32_.mul(spread_, weight(c));
    return shared(c == target ? fp32_.add(kept, spread) : spread);
  }

  Bounded total(std::size_t target, double height) const {
    if (!smooth()) return weight(target);
    Addends terms;
    for (std::size_t c = 0; c < static_cast<std::size_t>(classes_); ++c) terms.add(of(c, target));
    return shared(fp32_.sum(terms, height));
  }

 private:
  double classes_;
  bool smooth_ = false;
  Bounded keep_, spread_;
  std::vector<Bounded> weights_;
  Arithmetic fp32_ = single();
};

/// (cross_entropy.2) with (1 - eps) w_t nll_t apart from (eps / C) sum_c w_c nll_c, as the kernels have it, or as it
/// stands: the larger bound of the two associations.
Bounded row_loss(const Arithmetic& fp32, const ClassWeights& weights, const SoftmaxForm& form, const SoftmaxRow& row,
                 std::size_t target) {
  if (!weights.smooth()) return fp32.mul(weights.of(target, target), row.nll[target]);
  Addends apart, together;
  for (std::size_t c = 0; c < row.nll.size(); ++c) {
    apart.add(fp32.mul(weights.weight(c), row.nll[c]));
    together.add(fp32.mul(weights.of(c, target), row.nll[c]));
  }
  const Bounded kept = fp32.mul(fp32.mul(weights.keep(), weights.weight(target)), row.nll[target]);
  const Bounded first = fp32.add(kept, fp32.mul(weights.spread(), fp32.sum(apart, form.height)));
  const Bounded second = fp32.sum(together, form.height);
  return wider(first, second);
}

Bounded doubled(Bounded x) { return {2 * x.v, 2 * x.e}; }

/// Of (cross_entropy.4) the part of the loss, added to the row's.
Bounded with_square(const Arithmetic& fp32, Bounded z_loss, Bounded weight, Bounded lse, Bounded row) {
  if (z_loss.v == 0 && z_loss.e == 0) return row;
  return fp32.add(row, fp32.mul(fp32.mul(z_loss, weight), fp32.mul(lse, lse)));
}

ExpectedLoss evaluate(const Choice& loss, const Declared& declared, const Expected& y,
                      const Matrix<long double>& target, const Matrix<long double>& item_weight,
                      const Expected& row_factor) {
  const Arithmetic fp32 = single(), storage(declared.storage);
  const SoftmaxForm form = softmax_form(claim_of(declared, "cross_entropy"), static_cast<double>(y.v.cols()));
  const auto ignored = static_cast<long double>(loss.integer("ignore_index"));
  const ClassWeights weights(declared, loss, static_cast<double>(y.v.cols()));
  const Bounded z_loss = constant(z_loss_of(loss));
  const bool has_z = z_loss_of(loss).to_double() != 0;
  const BoundedMatrix z(y), factor(row_factor);
  BoundedMatrix losses(1, z.rows()), dz(z.rows(), z.cols());
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    losses.set(0, i, {});
    dz.v.row(i).setZero();
    dz.e.row(i).setZero();
    if (target(0, i) == ignored) continue;
    const auto t = static_cast<std::size_t>(target(0, i));
    const SoftmaxRow row = softmax_row(form, z, i);
    const Bounded total = weights.total(t, form.height);
    losses.set(0, i, with_square(fp32, z_loss, weights.weight(t), row.lse, row_loss(fp32, weights, form, row, t)));
    const Bounded pull = fp32.mul(fp32.mul(doubled(z_loss), weights.weight(t)), row.lse);
    for (std::size_t c = 0; c < row.p.size(); ++c) {
      Bounded q = fp32.sub(fp32.mul(total, row.p[c]), weights.of(c, t));
      if (has_z) q = fp32.add(q, fp32.mul(shared(pull), row.p[c]));
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
}  // namespace tally::oracle::cross_entropy_bound
