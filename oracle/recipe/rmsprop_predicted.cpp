// RMSProp, bit by bit: (rmsprop.1), (rmsprop.2), (rmsprop.3) and (rmsprop.4), one operation a line as
// kernels/arithmetic.md writes them.
#include "oracle/recipe/begun_at_zero.hpp"
#include "oracle/recipe/rmsprop_bound.hpp"

namespace tally::oracle {
namespace {

float quotient_of(float gradient, float square, float eps) {
  const float root = std::sqrt(square);
  const float divisor = root + eps;
  return gradient / divisor;
}

}  // namespace

Prediction predicted_square(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                            const Matrix<float>& old) {
  const HeldConstant rest = held_one_minus(declared, optimizer.number("alpha"));
  if (!as_written(declared, "rmsprop") || !rest) return {};
  const float alpha = held(optimizer.number("alpha"));
  return of_each(gradient.rows(), gradient.cols(), [&](Eigen::Index i) {
    const float kept = alpha * begun_at_zero(old, i);
    const float squared = gradient.data()[i] * gradient.data()[i];
    const float taken = *rest * squared;
    return stored(declared.master, kept + taken);
  });
}

Prediction predicted_buffer(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                            const Matrix<float>& square, const Matrix<float>& old) {
  if (!as_written(declared, "rmsprop")) return {};
  const float mu = held(optimizer.number("momentum")), eps = held(optimizer.number("eps"));
  return of_each(gradient.rows(), gradient.cols(), [&](Eigen::Index i) {
    const float kept = mu * begun_at_zero(old, i);
    return stored(declared.master, kept + quotient_of(gradient.data()[i], square.data()[i], eps));
  });
}

Prediction predicted_rmsprop_parameter(const Declared& declared, const Choice& optimizer, float rate,
                                       const Matrix<float>& gradient, const Matrix<float>& square,
                                       const Matrix<float>& buffer, const Matrix<float>& parameter) {
  if (!as_written(declared, "rmsprop")) return {};
  const float eps = held(optimizer.number("eps"));
  return of_each(parameter.rows(), parameter.cols(), [&](Eigen::Index i) {
    const float direction =
        buffer.size() != 0 ? buffer.data()[i] : quotient_of(gradient.data()[i], square.data()[i], eps);
    const float move = rate * direction;
    return stored(declared.master, parameter.data()[i] - move);
  });
}

}  // namespace tally::oracle
