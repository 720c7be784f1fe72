// Element by element, with the s(x) of (sigmoid.1).
// (silu.1)  y = x s(x)
// (silu.2)  dx = dy (s(x) + x s(x) (1 - s(x)))
// 1 - s(x) is written s(-x): no term overflows, and nothing cancels there.
// silu: (silu.1), and (silu.2) from x as dy s (1 + x (1 - s)), by the operations of kernels/arithmetic.md.
#include "oracle/case/contract.hpp"
#include "oracle/layers/functions.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/register_kind.hpp"

namespace tally::oracle::silu_kind {
namespace {

template <class T>
T logistic(const T& x) {
  return 1 / (1 + exp(T(-x)));
}

template <class T>
ForwardResult<T> forward(const Pass<T>&, const Matrix<T>& x) {
  return {x.unaryExpr([](const T& v) -> T { return v * logistic(v); }), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>&, const Matrix<T>& x, const Matrix<T>& dy) {
  return {x.binaryExpr(dy,
                       [](const T& v, const T& d) -> T {
                         const T s = logistic(v), other = logistic(T(-v));
                         return d * (s + v * s * other);
                       }),
          {}};
}

const Contract contract{.kind = "silu", .options = {}, .definition = "y = x / (1 + exp(-x))"};

constexpr Bounded one{1, 0};

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  return elementwise_forward(
      pass, x, [](const Elementary& fp32, Bounded input) { return fp32.mul(input, logistic_of(fp32, input)); });
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return elementwise_backward(pass, x, dy, [](const Elementary& fp32, Bounded input, Bounded gradient) {
    const Bounded s = logistic_of(fp32, input);
    const Bounded bracket = fp32.add(one, fp32.mul(input, fp32.sub(one, s)));
    return fp32.in_any_order(fp32.mul(gradient, fp32.mul(s, bracket)), {gradient, s, bracket});
  });
}

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}}}};

}  // namespace
}  // namespace tally::oracle::silu_kind
