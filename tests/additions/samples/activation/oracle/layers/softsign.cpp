// Element by element.
// (softsign.1)  y = x / (1 + |x|)
// (softsign.2)  dx = dy / (1 + |x|)²
// softsign: with d = fl(1 + |x|), (softsign.1) as one quotient and (softsign.2) as two.
#include "oracle/case/contract.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle::softsign_kind {
namespace {

template <class T>
T divisor(const T& x) {
  return 1 + larger(x, T(-x));
}

template <class T>
ForwardResult<T> forward(const Pass<T>&, const Matrix<T>& x) {
  return {x.unaryExpr([](const T& v) -> T { return v / divisor(v); }), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>&, const Matrix<T>& x, const Matrix<T>& dy) {
  return {x.binaryExpr(dy, [](const T& v, const T& d) -> T { return d / divisor(v) / divisor(v); }), {}};
}

const Contract contract{.kind = "softsign", .options = {}, .definition = "y = x / (1 + |x|)"};

Bounded divisor(const Elementary& fp32, Bounded x) { return fp32.add({1, 0}, {std::fabs(x.v), x.e}); }

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  return elementwise_forward(
      pass, x, [](const Elementary& fp32, Bounded input) { return fp32.div(input, divisor(fp32, input)); });
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return elementwise_backward(pass, x, dy, [](const Elementary& fp32, Bounded input, Bounded gradient) {
    const Bounded d = divisor(fp32, input);
    return fp32.div(fp32.div(gradient, d), d);
  });
}

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}}}};

}  // namespace
}  // namespace tally::oracle::softsign_kind
