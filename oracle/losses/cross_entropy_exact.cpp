// Of a row z of C logits with target t: e is the smoothing, w_c a class's weight, f the row's c_k of (divisor.2).
// (cross_entropy.1)  nll_c = log(sum_j e^z_j) - z_c,  p_c = e^-nll_c
// (cross_entropy.2)  l = sum_c a_c nll_c,  a_c = (1 - e) w_t [c = t] + (e / C) w_c
// (cross_entropy.3)  dz_c = f (p_c sum_j a_j - a_c)
// (cross_entropy.4)  with z_loss, to l: w_t z_loss L^2, to dz_c: 2 f w_t z_loss L p_c,  L = log(sum_j e^z_j)
// As d nll_c / d z_j = p_j - [j = c], dl/dz_j is p_j sum_{c != j} a_c - a_j (1 - p_j), and it is written so: only the
// genuine cancellation between those two terms is left, 1 - p_j being the share of the others.
#include <vector>

#include "oracle/case/z_loss.hpp"
#include "oracle/layers/register_exact.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/number.hpp"

namespace tally::oracle::cross_entropy_exact {
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

const RegisterExactLoss registered("cross_entropy", []<class T>(Scalar<T>) -> ExactLoss<T> { return {evaluate<T>}; });

}  // namespace
}  // namespace tally::oracle::cross_entropy_exact
