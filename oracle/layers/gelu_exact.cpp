// Element by element: the first two lines are approximate "none", the others "tanh".
// (gelu.1)  y = x P(x),  P(x) = (1 + erf(x / sqrt 2)) / 2, the normal distribution function
// (gelu.2)  dx = dy (P(x) + x e^(-x²/2) / sqrt(2 pi))
// (gelu.3)  y = x (1 + tanh u) / 2,  u = sqrt(2/pi) (x + 0.044715 x³)
// (gelu.4)  dx = dy ((1 + tanh u) / 2 + x (1 - tanh² u) / 2 · sqrt(2/pi) (1 + 3 · 0.044715 x²))
#include "oracle/layers/gelu.hpp"
#include "oracle/layers/register_exact.hpp"

namespace tally::oracle::gelu_exact {
namespace {

template <class T, class Gelu>
Matrix<T> values(const Gelu& gelu, const Matrix<T>& x) {
  return x.unaryExpr([&gelu](const T& v) -> T { return gelu.value(v); });
}

template <class T, class Gelu>
Matrix<T> slopes(const Gelu& gelu, const Matrix<T>& x) {
  return x.unaryExpr([&gelu](const T& v) -> T { return gelu.slope(v); });
}

template <class T>
bool exact_erf(const Pass<T>& pass) {
  return pass.layer.text("approximate") == "none";
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  return {exact_erf(pass) ? values<T>(ErfGelu<T>{}, x) : values<T>(TanhGelu<T>{}, x), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  const Matrix<T> slope = exact_erf(pass) ? slopes<T>(ErfGelu<T>{}, x) : slopes<T>(TanhGelu<T>{}, x);
  return {slope.cwiseProduct(dy), {}};
}

const RegisterExactLayer registered("gelu", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::gelu_exact
