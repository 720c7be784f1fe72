// Element by element: g is the gradient, m the momentum, p the parameter, which moves first, by the old m.
// (lion.1)  p <- p - rate sign(beta1 m + (1 - beta1) g)
// (lion.2)  m <- beta2 m + (1 - beta2) g
// Chen et al. 2023, "Symbolic discovery of optimization algorithms". sign(0) = 0, and the sign of NaN is NaN.
#include <string>

#include "oracle/real/ball.hpp"
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle::lion_exact {
namespace {

template <class T>
T sign_of(const T& x) {
  try {
    if (x > 0) return T(1);
    if (x < 0) return T(-1);
  } catch (const Undecided& open) {
    throw Undecided(std::string("a sign that cannot be decided, of what may be exactly 0: ") + open.what());
  }
  return x;  // 0 or NaN
}

template <class T>
Slot<T> lion(const Choice& optimizer, const T& rate, std::int64_t, const Matrix<T>& gradient, Slot<T> slot) {
  const T beta1 = number<T>(optimizer.number("beta1")), beta2 = number<T>(optimizer.number("beta2"));
  Matrix<T>& momentum = slot.state[0];
  const Matrix<T> direction = beta1 * momentum + T(1 - beta1) * gradient;
  slot.parameter -= rate * direction.unaryExpr([](const T& c) -> T { return sign_of(c); });
  momentum = (beta2 * momentum + T(1 - beta2) * gradient).eval();
  return slot;
}

const RegisterExactOptimizer registered("lion", []<class T>(Scalar<T>) -> ExactStep<T> { return lion<T>; });

}  // namespace
}  // namespace tally::oracle::lion_exact
