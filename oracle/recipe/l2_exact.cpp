// Of every parameter p that decays, and its gradient g.
// (l2.1)  g <- g + lambda p
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle::l2_exact {
namespace {

template <class T>
Matrix<T> gradient_with_decay(const Choice& weight_decay, const T&, const Matrix<T>& gradient,
                              const Matrix<T>& parameter) {
  return gradient + number<T>(weight_decay.number("lambda")) * parameter;
}

const RegisterExactDecay registered("l2", []<class T>(Scalar<T>) -> ExactDecay<T> { return gradient_with_decay<T>; });

}  // namespace
}  // namespace tally::oracle::l2_exact
