// Of every element g of every gradient.
// (clip_value.1)  g <- max(-max_value, min(g, max_value))
#include "oracle/real/functions.hpp"
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle::clip_value_exact {
namespace {

template <class T>
Matrix<T> clamped(const Choice& clip, const T&, const Matrix<T>& gradient) {
  const T most = number<T>(clip.number("max_value")), least = -most;
  return gradient.unaryExpr([&](const T& g) -> T { return larger(smaller(g, most), least); });
}

const RegisterExactClip registered("value", []<class T>(Scalar<T>) -> ExactClip<T> { return {clamped<T>}; });

}  // namespace
}  // namespace tally::oracle::clip_value_exact
