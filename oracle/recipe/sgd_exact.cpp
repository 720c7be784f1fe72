// Element by element: g is the gradient, b the momentum buffer, p the parameter.
// (sgd.1)  b <- momentum b + (1 - dampening) g, or g where there is no b yet
// (sgd.2)  d = b, or g + momentum b with nesterov, or g without momentum
// (sgd.3)  p <- p - rate d
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle::sgd_exact {
namespace {

template <class T>
Slot<T> sgd(const Choice& optimizer, const T& rate, std::int64_t, const Matrix<T>& gradient, Slot<T> slot) {
  const T momentum = number<T>(optimizer.number("momentum"));
  if (slot.state.empty()) {
    slot.parameter -= rate * gradient;
    return slot;
  }
  Matrix<T>& buffer = slot.state[0];
  if (buffer.size() == 0)
    buffer = gradient;
  else
    buffer = (momentum * buffer + T(1 - number<T>(optimizer.number("dampening"))) * gradient).eval();
  if (optimizer.flag("nesterov"))
    slot.parameter -= rate * (gradient + momentum * buffer);
  else
    slot.parameter -= rate * buffer;
  return slot;
}

const RegisterExactOptimizer registered("sgd", []<class T>(Scalar<T>) -> ExactStep<T> { return sgd<T>; });

}  // namespace
}  // namespace tally::oracle::sgd_exact
