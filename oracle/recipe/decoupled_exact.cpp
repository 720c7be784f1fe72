// Of every parameter p that decays, before the optimizer's step.
// (decoupled.1)  p <- p (1 - rate lambda)
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle::decoupled_exact {
namespace {

template <class T>
Matrix<T> shrunk(const Choice& weight_decay, const T& rate, const Matrix<T>&, const Matrix<T>& parameter) {
  return parameter * T(1 - rate * number<T>(weight_decay.number("lambda")));
}

const RegisterExactDecay registered("decoupled", []<class T>(Scalar<T>) -> ExactDecay<T> { return shrunk<T>; });

}  // namespace
}  // namespace tally::oracle::decoupled_exact
