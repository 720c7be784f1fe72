// Lion, bit by bit: (lion.1) and (lion.2), one operation a line as kernels/arithmetic.md writes them.
#include "oracle/recipe/begun_at_zero.hpp"
#include "oracle/recipe/lion_bound.hpp"

namespace tally::oracle {
namespace {

float interpolated(float beta, float rest, float gradient, float momentum) {
  const float kept = beta * momentum;
  const float taken = rest * gradient;
  return kept + taken;
}

}  // namespace

Prediction predicted_lion_momentum(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                                   const Matrix<float>& old) {
  const HeldConstant rest = held_one_minus(declared, optimizer.number("beta2"));
  if (!as_written(declared, "lion") || !rest) return {};
  const float beta = held(optimizer.number("beta2"));
  return of_each(gradient.rows(), gradient.cols(), [&](Eigen::Index i) {
    return stored(declared.master, interpolated(beta, *rest, gradient.data()[i], begun_at_zero(old, i)));
  });
}

Prediction predicted_lion_parameter(const Declared& declared, const Choice& optimizer, float rate,
                                    const Matrix<float>& gradient, const Matrix<float>& old,
                                    const Matrix<float>& parameter) {
  const HeldConstant rest = held_one_minus(declared, optimizer.number("beta1"));
  if (!as_written(declared, "lion") || !rest) return {};
  const float beta = held(optimizer.number("beta1"));
  return of_each(parameter.rows(), parameter.cols(), [&](Eigen::Index i) {
    const float c = interpolated(beta, *rest, gradient.data()[i], begun_at_zero(old, i));
    const float sign = c > 0 ? 1.0F : c < 0 ? -1.0F : c;
    const float move = rate * sign;
    return stored(declared.master, parameter.data()[i] - move);
  });
}

}  // namespace tally::oracle
