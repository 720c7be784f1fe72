// The norm is that of (clip.1), g every element of every gradient.
// (global_norm.1)  coefficient = min(1, max_norm / (norm + epsilon)), or 1 where norm + epsilon = 0
// (global_norm.2)  g <- g coefficient
#include "oracle/real/functions.hpp"
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle::global_norm_exact {
namespace {

template <class T>
T coefficient(const Choice& clip, const T& norm) {
  const T divisor = norm + number<T>(clip.number("epsilon"));
  if (divisor == 0) return T(1);
  return smaller(T(number<T>(clip.number("max_norm")) / divisor), T(1));
}

template <class T>
Matrix<T> scaled_down(const Choice&, const T& coefficient, const Matrix<T>& gradient) {
  return gradient * coefficient;
}

const RegisterExactClip registered("global_norm", []<class T>(Scalar<T>) -> ExactClip<T> {
  return {scaled_down<T>, coefficient<T>};
});

}  // namespace
}  // namespace tally::oracle::global_norm_exact
