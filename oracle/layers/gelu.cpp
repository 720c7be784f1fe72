// Element by element: the first two lines are approximate "none", the others "tanh".
// (gelu.1)  y = x P(x),  P(x) = (1 + erf(x / sqrt 2)) / 2, the normal distribution function
// (gelu.2)  dx = dy (P(x) + x e^(-x²/2) / sqrt(2 pi))
// (gelu.3)  y = x (1 + tanh u) / 2,  u = sqrt(2/pi) (x + 0.044715 x³)
// (gelu.4)  dx = dy ((1 + tanh u) / 2 + x (1 - tanh² u) / 2 · sqrt(2/pi) (1 + 3 · 0.044715 x²))
// gelu: (gelu.1) and (gelu.2), or (gelu.3) and (gelu.4), by the operations of kernels/arithmetic.md in the (v, e)
// algebra.
#include "oracle/case/contract.hpp"
#include "oracle/layers/functions.hpp"
#include "oracle/register_kind.hpp"

namespace tally::oracle::gelu_kind {
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

const Contract contract{.kind = "gelu",
                        .options = {{.name = "approximate",
                                     .type = OptionType::text,
                                     .standard = std::string("none"),
                                     .words = {"none", "tanh"}}},
                        .definition =
                            "none: y = x (1 + erf(x / sqrt 2)) / 2; "
                            "tanh: y = x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2",
                        .kernels_by = "approximate"};

template <class Gelu>
Bounded gradient(const Elementary& fp32, Bounded x, Bounded dy) {
  return fp32.mul(dy, Gelu::slope(fp32, x));
}

bool by_tanh(const BoundPass& pass) { return pass.layer.text("approximate") == "tanh"; }

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  return elementwise_forward(pass, x, by_tanh(pass) ? BoundedGeluTanh::value : BoundedGeluErf::value);
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return elementwise_backward(pass, x, dy, by_tanh(pass) ? gradient<BoundedGeluTanh> : gradient<BoundedGeluErf>);
}

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}}}};

}  // namespace
}  // namespace tally::oracle::gelu_kind
