// SGD, bit by bit: (sgd.1), (sgd.2) and (sgd.3), one operation a line as kernels/arithmetic.md writes them.
#include "oracle/recipe/sgd_bound.hpp"

namespace tally::oracle {

Prediction predicted_sgd_momentum(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                                  const Matrix<float>& old) {
  if (!as_written(declared, "sgd")) return {};
  const auto first = [&](Eigen::Index i) { return stored(declared.master, gradient.data()[i]); };
  if (old.size() == 0) return of_each(gradient.rows(), gradient.cols(), first);
  const HeldConstant rest = held_one_minus(declared, optimizer.number("dampening"));
  if (!rest) return {};
  const float mu = held(optimizer.number("momentum"));
  return of_each(gradient.rows(), gradient.cols(), [&](Eigen::Index i) {
    const float kept = mu * old.data()[i];
    const float taken = *rest * gradient.data()[i];
    return stored(declared.master, kept + taken);
  });
}

Prediction predicted_sgd_parameter(const Declared& declared, const Choice& optimizer, float rate,
                                   const Matrix<float>& gradient, const Matrix<float>& momentum,
                                   const Matrix<float>& parameter) {
  if (!as_written(declared, "sgd")) return {};
  const float mu = held(optimizer.number("momentum"));
  const bool nesterov = momentum.size() != 0 && optimizer.flag("nesterov");
  const Matrix<float>& straight = momentum.size() != 0 ? momentum : gradient;
  return of_each(parameter.rows(), parameter.cols(), [&](Eigen::Index i) {
    float direction = straight.data()[i];
    if (nesterov) {
      const float ahead = mu * direction;
      direction = gradient.data()[i] + ahead;
    }
    const float move = rate * direction;
    return stored(declared.master, parameter.data()[i] - move);
  });
}

}  // namespace tally::oracle
