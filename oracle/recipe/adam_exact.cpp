// Element by element: g is the gradient, m and v its moments, p the parameter, t the steps taken before this one.
// (adam.1)  m <- beta1 m + (1 - beta1) g
// (adam.2)  v <- beta2 v + (1 - beta2) g²
// (adam.3)  p <- p - rate m^ / (sqrt(v^) + eps),  m^ = m / (1 - beta1^(t+1)),  v^ = v / (1 - beta2^(t+1))
#include "oracle/real/functions.hpp"
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle::adam_exact {
namespace {

template <class T>
Slot<T> adam(const Choice& optimizer, const T& rate, std::int64_t step, const Matrix<T>& gradient, Slot<T> slot) {
  const T beta1 = number<T>(optimizer.number("beta1")), beta2 = number<T>(optimizer.number("beta2"));
  const T eps = number<T>(optimizer.number("eps"));
  Matrix<T>&first = slot.state[0], &second = slot.state[1];
  first = (beta1 * first + T(1 - beta1) * gradient).eval();
  second = (beta2 * second + T(1 - beta2) * gradient.cwiseProduct(gradient)).eval();
  const T correction1 = 1 - power(beta1, step + 1), correction2 = 1 - power(beta2, step + 1);
  slot.parameter -= first.binaryExpr(
      second, [&](const T& m, const T& v) -> T { return rate * (m / correction1) / (sqrt(T(v / correction2)) + eps); });
  return slot;
}

const RegisterExactOptimizer registered("adam", []<class T>(Scalar<T>) -> ExactStep<T> { return adam<T>; });

}  // namespace
}  // namespace tally::oracle::adam_exact
