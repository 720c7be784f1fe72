// Adam, bit by bit: (adam.1), (adam.2) and (adam.3), one operation a line as kernels/arithmetic.md writes them.
#include "oracle/recipe/adam_bound.hpp"
#include "oracle/recipe/begun_at_zero.hpp"
#include "oracle/tolerance/constants.hpp"

namespace tally::oracle {
namespace {

struct PredictedCorrections {
  HeldConstant rate, root;  // lr / (1 - beta1^(t+1)), sqrt(1 - beta2^(t+1))
};

PredictedCorrections predicted_corrections(const Declared& declared, const Choice& optimizer, const Choice& schedule,
                                           std::int64_t step) {
  const auto rate = learning_rate<long double>(schedule, step);
  const auto times = static_cast<long double>(step) + 1;
  const Complement first = complement_of_power(optimizer.number("beta1"), times);
  const Complement second = complement_of_power(optimizer.number("beta2"), times);
  const long double off = of_inverse(first.relative);
  if (!(off < infinite)) return {};
  const long double corrected = rate / first.value, root = std::sqrt(second.value);
  const long double of_rate = 2 * margin_of_rate(schedule, rate, step) / first.value * (1 + off);
  return {held(declared, corrected, of_rate + std::fabs(corrected) * off),
          held(declared, root, root * second.relative)};
}

/// (adam.1) of the gradient, or (adam.2) of its square, stored.
Prediction moment(const Declared& declared, const Decimal& beta, const Matrix<float>& old, const Matrix<float>& now) {
  const HeldConstant rest = held_one_minus(declared, beta);
  if (!as_written(declared, "adam") || !rest) return {};
  const float keep = held(beta);
  return of_each(now.rows(), now.cols(), [&](Eigen::Index i) {
    const float kept = keep * begun_at_zero(old, i);
    const float taken = *rest * now.data()[i];
    return stored(declared.master, kept + taken);
  });
}

}  // namespace

Prediction predicted_exp_avg(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                             const Matrix<float>& old) {
  return moment(declared, optimizer.number("beta1"), old, gradient);
}

Prediction predicted_exp_avg_sq(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                                const Matrix<float>& old) {
  return moment(declared, optimizer.number("beta2"), old, gradient.cwiseProduct(gradient));
}

Prediction predicted_adam_parameter(const Declared& declared, const Choice& optimizer, const Choice& schedule,
                                    std::int64_t step, const Matrix<float>& exp_avg, const Matrix<float>& exp_avg_sq,
                                    const Matrix<float>& parameter) {
  if (!as_written(declared, "adam")) return {};
  const PredictedCorrections c = predicted_corrections(declared, optimizer, schedule, step);
  if (!c.rate || !c.root) return {};
  const float eps = held(optimizer.number("eps"));
  return of_each(parameter.rows(), parameter.cols(), [&](Eigen::Index i) {
    const float root = std::sqrt(exp_avg_sq.data()[i]);
    const float corrected = root / *c.root;
    const float divisor = corrected + eps;
    const float quotient = exp_avg.data()[i] / divisor;
    const float move = *c.rate * quotient;
    return stored(declared.master, parameter.data()[i] - move);
  });
}

}  // namespace tally::oracle
