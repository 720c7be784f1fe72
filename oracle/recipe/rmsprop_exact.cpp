// Element by element: g is the gradient, v the mean of its squares, b the momentum buffer, p the parameter.
// (rmsprop.1)  v <- alpha v + (1 - alpha) g²
// (rmsprop.2)  q = g / (sqrt(v) + eps)
// (rmsprop.3)  b <- momentum b + q
// (rmsprop.4)  p <- p - rate b, or p - rate q without momentum
#include "oracle/real/functions.hpp"
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle::rmsprop_exact {
namespace {

template <class T>
Slot<T> rmsprop(const Choice& optimizer, const T& rate, std::int64_t, const Matrix<T>& gradient, Slot<T> slot) {
  const T alpha = number<T>(optimizer.number("alpha")), eps = number<T>(optimizer.number("eps"));
  Matrix<T>& square = slot.state[0];
  square = (alpha * square + T(1 - alpha) * gradient.cwiseProduct(gradient)).eval();
  const Matrix<T> quotient =
      gradient.binaryExpr(square, [&](const T& g, const T& v) -> T { return g / (sqrt(v) + eps); });
  if (slot.state.size() == 1) {
    slot.parameter -= rate * quotient;
    return slot;
  }
  Matrix<T>& buffer = slot.state[1];
  buffer = (number<T>(optimizer.number("momentum")) * buffer + quotient).eval();
  slot.parameter -= rate * buffer;
  return slot;
}

const RegisterExactOptimizer registered("rmsprop", []<class T>(Scalar<T>) -> ExactStep<T> { return rmsprop<T>; });

}  // namespace
}  // namespace tally::oracle::rmsprop_exact
