// Element by element over the inputs g, the gate, and u, with the s of (sigmoid.1).
// (gated.1)  y = g s(g) u
// (gated.2)  dg = dy u (s(g) + g s(g) (1 - s(g)))
// (gated.3)  du = dy g s(g)
// 1 - s(g) is written s(-g): no term overflows, and nothing cancels there.
#include "oracle/layers/register_exact.hpp"
#include "oracle/real/functions.hpp"

namespace tally::oracle {
namespace {

template <class T>
T logistic(const T& x) {
  return 1 / (1 + exp(T(-x)));
}

template <class T>
T silu(const T& g) {
  return g * logistic(g);
}

template <class T>
T slope(const T& g) {
  const T s = logistic(g);
  return s + g * s * logistic(T(-g));
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& gate) {
  return {gate.binaryExpr(*pass.others.at(0), [](const T& g, const T& u) -> T { return silu(g) * u; }), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& gate, const Matrix<T>& dy) {
  const Matrix<T>& up = *pass.others.at(0);
  BackwardResult<T> result{gate.unaryExpr([](const T& g) -> T { return slope(g); }).cwiseProduct(dy.cwiseProduct(up)),
                           {}};
  result.more_dx.push_back(gate.unaryExpr([](const T& g) -> T { return silu(g); }).cwiseProduct(dy));
  return result;
}

const RegisterExactLayer registered("gated", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle
