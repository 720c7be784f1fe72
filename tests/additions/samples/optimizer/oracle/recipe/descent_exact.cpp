// Element by element: g is the gradient, p the parameter.
// (descent.1)  p <- p - rate g
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle::descent_exact {
namespace {

template <class T>
Slot<T> descent(const Choice&, const T& rate, std::int64_t, const Matrix<T>& gradient, Slot<T> slot) {
  slot.parameter -= rate * gradient;
  return slot;
}

const RegisterExactOptimizer registered("descent", []<class T>(Scalar<T>) -> ExactStep<T> { return descent<T>; });

}  // namespace
}  // namespace tally::oracle::descent_exact
