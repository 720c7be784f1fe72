// Element by element, as PyTorch has it with beta 1 and threshold 20; no other is stated.
// (softplus.1)  y = x where x > 20, else log(1 + e^x)
// (softplus.2)  dx = dy where x > 20, else dy e^x / (1 + e^x)
// At 20 y falls by log(1 + e^-20) and dx rises by dy / (1 + e^20), both below `jump`, a 500th of what one rounding of 20
// may do: where the interval of x holds 20, value and subject may take different branches, and e takes the jump in.
// softplus: with z = exp(x), (softplus.1) as log1p(z), (softplus.2) as dy (z / (z + 1)), each a function of x alone, so
// that an interval of x enters once. Let exp and log1p err by rho: z is then z (1 + d), |d| <= rho. With s = z / (1 + z)
// log1p of it is off by |log1p(d s)| <= rho s / (1 - rho), and y in all by rho (1 + s / y) / (1 - 2 rho) of itself,
// where s <= y and s / y falls with x. s is off by the factor (1 + d) / (1 + d s), that is by rho (1 - s) / (1 - rho),
// and by the roundings of 1 + z and of the quotient; 1 - s falls with x, too. Below fp32's normal numbers z is off by
// its least error, which both pass on undiminished at most, and log1p by its own.
#include "oracle/case/contract.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle::softplus_kind {
namespace {

constexpr double threshold = 20;

template <class T>
bool is_beyond(const T& x) {
  return x > T(threshold);
}

template <class T>
T value(const T& x) {
  return is_beyond(x) ? x : log1p(exp(x));
}

template <class T>
T slope(const T& x) {
  if (is_beyond(x)) return 1;
  const T z = exp(x);
  return z / (1 + z);
}

template <class T>
ForwardResult<T> forward(const Pass<T>&, const Matrix<T>& x) {
  return {x.unaryExpr([](const T& v) -> T { return value(v); }), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>&, const Matrix<T>& x, const Matrix<T>& dy) {
  return {x.binaryExpr(dy, [](const T& v, const T& d) -> T { return d * slope(v); }), {}};
}

const Contract contract{.kind = "softplus", .options = {}, .definition = "y = log(1 + exp(x)), x itself where x > 20"};

constexpr double jump = 0x1.2p-29;

double smooth(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

bool surely_beyond(Bounded x) { return x.v - x.e > threshold; }
double jump_within(Bounded x) { return x.v + x.e > threshold ? jump : 0; }

/// How far a function of the kernel's functions may err, that passes so much of the errors of both on.
FunctionError passed_on(const Elementary& fp32, FunctionError error, double relative, double least) {
  const double rho = fp32.relative_error_of(error);
  return {rho < 0.25 ? error.relative * relative / (1 - 2 * rho) : infinite, error.least * least};
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  const FunctionError error = functions_of(claim_of(pass.declared, "softplus.forward"));
  return elementwise_forward(pass, x, [&](const Elementary& fp32, Bounded input) {
    if (surely_beyond(input)) return input;
    const double least = input.v - input.e, s = logistic(least), of_y = s > 0 ? s / smooth(least) : 1;
    Bounded y = fp32.monotone(smooth, input, passed_on(fp32, error, 1 + of_y, 2));
    y.e += jump_within(input);
    return y;
  });
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const FunctionError error = functions_of(claim_of(pass.declared, "softplus.backward"));
  return elementwise_backward(pass, x, dy, [&](const Elementary& fp32, Bounded input, Bounded gradient) {
    if (surely_beyond(input)) return gradient;
    const double rest = logistic(input.e - input.v);  // 1 - s at the least x
    const Bounded one{1, 0}, z = fp32.monotone(logistic, input, passed_on(fp32, error, rest, 1));
    Bounded s = fp32.div(fp32.div(z, one), one);  // rounded twice more
    s.e += jump_within(input);
    return fp32.in_any_order(fp32.mul(gradient, s), {gradient, s});
  });
}

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}}}};

}  // namespace
}  // namespace tally::oracle::softplus_kind
