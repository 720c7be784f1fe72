// Row z has C logits and target t; e is the smoothing, w_c a class's weight, f the row's c_k of (divisor.2).
// (cross_entropy.1)  nll_c = log(sum_j e^z_j) - z_c,  p_c = e^-nll_c
// (cross_entropy.2)  l = sum_c a_c nll_c,  a_c = (1 - e) w_t [c = t] + (e / C) w_c
// (cross_entropy.3)  dz_c = f (p_c sum_j a_j - a_c)
// (cross_entropy.4)  with z_loss, to l: w_t z_loss L^2, to dz_c: 2 f w_t z_loss L p_c,  L = log(sum_j e^z_j)
// As d nll_c / d z_j = p_j - [j = c], dl/dz_j is p_j sum_{c != j} a_c - a_j (1 - p_j), and it is written so: only the
// genuine cancellation between those two terms is left, 1 - p_j being the share of the others.
// cross_entropy: softmax_bound.hpp gives each row's (cross_entropy.1), from which (cross_entropy.2) and
// (cross_entropy.3) follow by the operations of kernels/arithmetic.md.
#include <vector>

#include "oracle/case/contract.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/losses/softmax_bound.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/number.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle::cross_entropy_kind {
namespace {

/// e^(z - max z), their sum, and the sum without the largest's own.
template <class T>
struct Exponentials {
  Matrix<T> e;
  Eigen::Index largest = 0;
  T rest = 0, total = 0;

  explicit Exponentials(const Matrix<T>& z) : e(1, z.size()) {
    for (Eigen::Index c = 1; c < z.size(); ++c)
      if (surely_greater(z(c), z(largest))) largest = c;  // any of those that may be it will do
    for (Eigen::Index c = 0; c < z.size(); ++c) {
      e(c) = exp(T(z(c) - z(largest)));
      if (c != largest) rest += e(c);
    }
    total = e(largest) + rest;
  }
  /// log(total); e(largest) is 1, or NaN where z holds NaN or +inf.
  T log_sum() const { return log1p(T(rest + (e(largest) - 1))); }  // L less the largest
  T share(Eigen::Index c) const { return e(c) / total; }
  T share_of_others(Eigen::Index c) const { return (c == largest ? rest : T(total - e(c))) / total; }
};

/// How much each class counts: hard_ on the target alone, soft_ on every class.
template <class T>
class Weights {
 public:
  Weights(const Choice& loss, Eigen::Index classes) : smoothing_(number<T>(loss.number("label_smoothing"))) {
    const std::vector<Decimal>& given = loss.numbers("weight");
    const T C = static_cast<double>(classes);
    for (Eigen::Index c = 0; c < classes; ++c) {
      weight_.push_back(given.empty() ? T(1) : number<T>(given.at(static_cast<std::size_t>(c))));
      soft_.push_back(smoothing_ / C * weight_.back());
      soft_sum_ += soft_.back();
    }
  }
  bool smooth() const { return smoothing_ != 0; }
  const T& weight(Eigen::Index c) const { return weight_[static_cast<std::size_t>(c)]; }
  T hard(Eigen::Index target) const { return (1 - smoothing_) * weight_[static_cast<std::size_t>(target)]; }
  const T& soft(Eigen::Index c) const { return soft_[static_cast<std::size_t>(c)]; }
  /// a_j, and the sum of a_c over c != j.
  T at(Eigen::Index j, Eigen::Index target) const { return j == target ? T(hard(target) + soft(j)) : soft(j); }
  T others(Eigen::Index j, Eigen::Index target) const {
    const T soft_others = soft_sum_ - soft(j);
    return j == target ? soft_others : T(hard(target) + soft_others);
  }

 private:
  T smoothing_, soft_sum_ = 0;
  std::vector<T> weight_, soft_;
};

template <class T>
LossResult<T> evaluate(const Choice& loss, const Matrix<T>& y, const Matrix<T>& target, const Matrix<T>&,
                       const Matrix<T>& row_factor) {
  const Weights<T> weights(loss, y.cols());
  const bool has_z = z_loss_of(loss).to_double() != 0;
  const T z_loss = number<T>(z_loss_of(loss));
  LossResult<T> result{Matrix<T>::Zero(1, y.rows()), Matrix<T>::Zero(y.rows(), y.cols())};
  for (Eigen::Index r = 0; r < y.rows(); ++r) {
    const std::int64_t t = to_integer(target(r));
    if (t == loss.integer("ignore_index")) continue;
    const Matrix<T> z = y.row(r);
    const Exponentials<T> softmax(z);
    const T log_sum = softmax.log_sum();
    const auto nll = [&](Eigen::Index c) -> T { return log_sum + (z(softmax.largest) - z(c)); };
    const T pull = has_z ? T(z_loss * weights.weight(t) * (log_sum + z(softmax.largest))) : T(0);
    result.loss(r) = weights.hard(t) * nll(t);
    if (has_z) result.loss(r) += pull * (log_sum + z(softmax.largest));
    for (Eigen::Index j = 0; j < z.size(); ++j) {
      if (weights.smooth()) result.loss(r) += weights.soft(j) * nll(j);
      const T rising = softmax.share(j) * weights.others(j, t);
      const T falling = weights.at(j, t) * softmax.share_of_others(j);
      result.dy(r, j) = (rising - falling) * row_factor(r);
      if (has_z) result.dy(r, j) += 2 * pull * softmax.share(j) * row_factor(r);
    }
  }
  return result;
}

/// An empty `weight` stands for all classes weighing 1.
const Contract contract{
    .kind = "cross_entropy",
    .options = {{.name = "ignore_index", .type = OptionType::integer, .standard = std::int64_t{-100}},
                {.name = "label_smoothing",
                 .type = OptionType::number,
                 .standard = Decimal{"0"},
                 .range = {.at_least = "0", .at_most = "1"}},
                {.name = "weight",
                 .type = OptionType::number_list,
                 .standard = std::vector<Decimal>{},
                 .range = {.above = "0"}},
                {.name = "shift", .type = OptionType::boolean, .standard = false, .since = 2},
                {.name = "z_loss",
                 .type = OptionType::number,
                 .standard = Decimal{"0"},
                 .range = {.at_least = "0"},
                 .since = 2}},
    .class_targets = true,
    .definition =
        "l = (1 - e) w_t nll_t + (e / C) sum_c w_c nll_c + w_t z_loss lse^2, nll_c = -log softmax(z)_c; item "
        "weight w_t"};

/// The a_c of (cross_entropy.2) and their sum W, in fp32.
class ClassWeights {
 public:
  ClassWeights(const Declared& declared, const Choice& loss, double classes)
      : classes_(classes), fp32_(single(declared)) {
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
  Arithmetic fp32_;
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

/// The loss's part of (cross_entropy.4), added to the row's.
Bounded with_square(const Arithmetic& fp32, Bounded z_loss, Bounded weight, Bounded lse, Bounded row) {
  if (z_loss.v == 0 && z_loss.e == 0) return row;
  return fp32.add(row, fp32.mul(fp32.mul(z_loss, weight), fp32.mul(lse, lse)));
}

ExpectedLoss evaluate(const Choice& loss, const Declared& declared, const Expected& y,
                      const Matrix<long double>& target, const Matrix<long double>& item_weight,
                      const Expected& row_factor) {
  const Arithmetic fp32 = single(declared), storage(declared, declared.storage);
  const SoftmaxForm form = softmax_form(claim_of(declared, "cross_entropy"), static_cast<double>(y.v.cols()));
  const auto ignored = static_cast<long double>(loss.integer("ignore_index"));
  const ClassWeights weights(declared, loss, static_cast<double>(y.v.cols()));
  const Bounded z_loss = constant(z_loss_of(loss));
  const bool has_z = z_loss_of(loss).to_double() != 0;
  const BoundedMatrix z(declared, y), factor(declared, row_factor);
  BoundedMatrix losses(1, z.rows()), dz(z.rows(), z.cols());
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    losses.set(0, i, {});
    dz.v.row(i).setZero();
    dz.e.row(i).setZero();
    if (target(0, i) == ignored) continue;
    const auto t = static_cast<std::size_t>(target(0, i));
    const SoftmaxRow row = softmax_row(fp32, form, z, i);
    const Bounded total = weights.total(t, form.height);
    losses.set(0, i, with_square(fp32, z_loss, weights.weight(t), row.lse, row_loss(fp32, weights, form, row, t)));
    const Bounded pull = fp32.mul(fp32.mul(doubled(z_loss), weights.weight(t)), row.lse);
    for (std::size_t c = 0; c < row.p.size(); ++c) {
      Bounded q = fp32.sub(fp32.mul(total, row.p[c]), weights.of(c, t));
      if (has_z) q = fp32.add(q, fp32.mul(shared(pull), row.p[c]));
      dz.set(i, static_cast<Eigen::Index>(c), storage.store(fp32.mul(factor.at(0, i), q)));
    }
  }
  const auto exact = exact_loss_of(loss, declared, y, target, item_weight, row_factor);
  Expected loss_row = joined(declared, exact.loss, losses), gradient = joined(declared, exact.dy, dz);
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    if (target(0, i) != ignored) continue;  // exactly zero, whatever the logits are
    loss_row.v(0, i) = 0;
    loss_row.e(0, i) = 0;
    gradient.v.row(i).setZero();
    gradient.e.row(i).setZero();
  }
  return {std::move(loss_row), std::move(gradient)};
}

const Register<LossDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactLoss<T> { return {evaluate<T>}; }, {evaluate}}};

}  // namespace
}  // namespace tally::oracle::cross_entropy_kind
