// Element by element over the inputs g, the gate, and u, with the s of (sigmoid.1).
// (gated.1)  y = a(g) u
// (gated.2)  dg = dy u a'(g)
// (gated.3)  du = dy a(g)
// (gated.4)  a(g) = g s(g),  a'(g) = s(g) + g s(g) (1 - s(g)): silu
// gelu: a and a' are what (gelu.1) and (gelu.2) have, gelu_tanh: what (gelu.3) and (gelu.4) have, of dy = 1.
// 1 - s(g) is written s(-g): no term overflows, and nothing cancels there.
#include "oracle/layers/gelu.hpp"
#include "oracle/layers/register_exact.hpp"

namespace tally::oracle::gated_exact {
namespace {

template <class T>
T logistic(const T& x) {
  return 1 / (1 + exp(T(-x)));
}

template <class T>
struct Silu {
  T value(const T& g) const { return g * logistic(g); }
  T slope(const T& g) const {
    const T s = logistic(g);
    return s + g * s * logistic(T(-g));
  }
};

/// What `use` makes of the layer's activation.
template <class T, class Use>
auto by_activation(const Pass<T>& pass, Use use) {
  const std::string& activation = pass.layer.text("activation");
  if (activation == "gelu") return use(ErfGelu<T>{});
  if (activation == "gelu_tanh") return use(TanhGelu<T>{});
  return use(Silu<T>{});
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& gate) {
  return by_activation(pass, [&](const auto& a) -> ForwardResult<T> {
    return {gate.binaryExpr(*pass.others.at(0), [&a](const T& g, const T& u) -> T { return a.value(g) * u; }), {}, {}};
  });
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& gate, const Matrix<T>& dy) {
  return by_activation(pass, [&](const auto& a) {
    const Matrix<T>& up = *pass.others.at(0);
    const Matrix<T> slope = gate.unaryExpr([&a](const T& g) -> T { return a.slope(g); });
    BackwardResult<T> result{slope.cwiseProduct(dy.cwiseProduct(up)), {}};
    result.more_dx.push_back(gate.unaryExpr([&a](const T& g) -> T { return a.value(g); }).cwiseProduct(dy));
    return result;
  });
}

const RegisterExactLayer registered("gated", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::gated_exact
