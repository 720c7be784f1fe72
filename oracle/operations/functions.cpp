// Elementwise functions and activations, forward and backward, by the algebra: what a library's function may be off is
// the profile's claim "ulps", 2 where it claims nothing.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "oracle/operations/rule.hpp"

namespace tally::oracle::operations::functions_rules {
namespace {

using Demands = std::vector<Demand>;
constexpr double library_ulps = 2;
constexpr double least_normal = 0x1p-126;

FunctionError error_of(const Profile& profile, std::string_view function, Element element) {
  return claimed(profile.number(function, element, "ulps", library_ulps));
}

/// A constant that a kernel holds rounded to fp32.
Bounded held(double constant) { return {constant, std::fabs(constant) * 0x1p-24}; }

struct MonotoneFunction {
  const char* name;
  double (*f)(double);
};
const MonotoneFunction monotone_functions[] = {
    {"exp", [](double x) { return std::exp(x); }},     {"exp2", [](double x) { return std::exp2(x); }},
    {"expm1", [](double x) { return std::expm1(x); }}, {"log", [](double x) { return std::log(x); }},
    {"log2", [](double x) { return std::log2(x); }},   {"log10", [](double x) { return std::log10(x); }},
    {"log1p", [](double x) { return std::log1p(x); }}, {"erf", [](double x) { return std::erf(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},   {"atan", [](double x) { return std::atan(x); }},
    {"asin", [](double x) { return std::asin(x); }},   {"acos", [](double x) { return std::acos(x); }},
    {"sinh", [](double x) { return std::sinh(x); }},   {"erfc", [](double x) { return std::erfc(x); }},
};

Demands by_library(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const std::string name = call.name;
  const FunctionError error = error_of(profile, name, out.element);
  const double absolute = profile.number(name, out.element, "absolute", 0);
  for (const MonotoneFunction& each : monotone_functions) {
    if (name != each.name) continue;
    return {elementwise<1>(call, profile, output_name(call), out, {call.tensor("self")},
                           [=, f = each.f](const auto& a, Bounded x) {
                             Bounded y = a.monotone(f, x, error);
                             y.e += absolute;
                             return y;
                           })};
  }
  double (*f)(double) = name == "sin" ? [](double x) { return std::sin(x); } : [](double x) { return std::cos(x); };
  return {elementwise<1>(call, profile, output_name(call), out, {call.tensor("self")}, [=](const auto& a, Bounded x) {
    Bounded y = a.monotone(f, {x.v, 0}, error);
    if (decided(y)) y.e = std::min(y.e + x.e, 2.0);  // |sin'| <= 1
    return y;
  })};
}
const RegisterOperations library{{"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "erf", "erfc", "tanh",
                                  "atan", "asin", "acos", "sinh", "sin", "cos"},
                                 by_library};

/// 1 / (1 + e^-x): the error d of the exponential moves it by s (1 - s) d, its sum and quotient round, and
/// an exponential that overflows leaves 0.
template <class A>
Bounded sigmoid(const A& a, Bounded x, FunctionError exp) {
  const auto f = [](double y) { return 1 / (1 + std::exp(-y)); };
  const double s = f(x.v), rest = 1 / (1 + std::exp(x.v));
  if (!decided(x) || std::isnan(s)) return {s, std::isnan(x.v) ? 0 : infinite};
  if constexpr (std::is_same_v<A, Plain>) return {s, 0};
  const double passed_on = x.e == 0 ? 0 : std::max(f(x.v + x.e) - s, s - f(x.v - x.e));
  const double d = a.relative_error_of(exp), own = s * rest * d / (1 - d);
  return {s, ((passed_on + own) * (1 + gam(2, a.u())) + gam(2, a.u()) * s + least_normal) * inflation};
}

Demands sigmoids(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const std::string name = call.name;
  const FunctionError exp = error_of(profile, "exp", out.element);
  if (name == "sigmoid")
    return {elementwise<1>(call, profile, output_name(call), out, {call.tensor("self")},
                           [=](const auto& a, Bounded x) { return sigmoid(a, x, exp); })};
  if (name == "silu")
    return {elementwise<1>(call, profile, output_name(call), out, {call.tensor("self")},
                           [=](const auto& a, Bounded x) { return a.mul(x, sigmoid(a, x, exp)); })};
  // g s (1 + x (1 - s))
  return {elementwise<2>(call, profile, output_name(call), out, {call.tensor("grad_output"), call.tensor("self")},
                         [=](const auto& a, Bounded g, Bounded x) {
                           const Bounded s = sigmoid(a, x, exp);
                           const Bounded t = a.add({1, 0}, a.mul(x, a.sub({1, 0}, s)));
                           return either(a, a.mul(a.mul(g, s), t), a.mul(g, a.mul(s, t)));
                         })};
}
const RegisterOperations logistic{{"sigmoid", "silu", "silu_backward"}, sigmoids};

/// g (1 - y^2), and g (1 - y) y, in either grouping.
Demands from_outputs(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const bool tanh = call.name == "tanh_backward";
  return {elementwise<2>(call, profile, output_name(call), out, {call.tensor("grad_output"), call.tensor("output")},
                         [=](const auto& a, Bounded g, Bounded y) {
                           if (tanh) {
                             const Bounded square = a.mul(y, y);
                             return either(a, a.mul(g, a.sub({1, 0}, square)), a.sub(g, a.mul(g, square)));
                           }
                           const Bounded rest = a.sub({1, 0}, y);
                           return either(a, a.mul(a.mul(g, rest), y), a.mul(g, a.mul(rest, y)));
                         })};
}
const RegisterOperations outputs{{"tanh_backward", "sigmoid_backward"}, from_outputs};

struct GeluClaims {
  bool by_tanh;
  FunctionError exp, erf, tanh;
  double erf_absolute, flushed;
};

GeluClaims claims_of_gelu(const Call& call, const Profile& profile, Element element) {
  return {call.text("approximate", "none") == "tanh",
          error_of(profile, "exp", element),
          error_of(profile, "erf", element),
          error_of(profile, "tanh", element),
          profile.number(call.name, element, "erf_absolute", 0),
          profile.says(call.name, element, "flushes_subnormals") ? least_normal : 0};
}

template <class A>
Bounded erf_of(const A& a, Bounded x, const GeluClaims& claims) {
  Bounded y = a.monotone([](double t) { return std::erf(t); }, x, claims.erf);
  y.e += claims.erf_absolute;
  return y;
}

/// sqrt(2/pi) (x + 0.044715 x^3)
template <class A>
Bounded inner_of(const A& a, Bounded x) {
  constexpr double k = 0.79788456080286535588;  // sqrt(2/pi)
  return a.mul(held(k), a.add(x, a.mul(held(0.044715), a.mul(a.mul(x, x), x))));
}

/// x Phi(x), or x (1 + tanh t) / 2 with t = sqrt(2/pi) (x + 0.044715 x^3)
Demands gelu(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const GeluClaims claims = claims_of_gelu(call, profile, out.element);
  return {elementwise<1>(call, profile, output_name(call), out, {call.tensor("self")}, [=](const auto& a, Bounded x) {
    const Bounded inner = claims.by_tanh
                              ? a.monotone([](double t) { return std::tanh(t); }, inner_of(a, x), claims.tanh)
                              : erf_of(a, a.mul(x, held(std::numbers::sqrt2 / 2)), claims);
    const Bounded sum = a.add({1, 0}, inner), half = a.mul({0.5, 0}, x);
    Bounded y = either(a, a.mul(half, sum), a.mul(x, a.mul({0.5, 0}, sum)));
    y.e += claims.flushed;
    return y;
  })};
}
const RegisterOperations gelus{{"gelu"}, gelu};

/// g (Phi(x) + x phi(x)), or g ((1 + tanh t) / 2 + x (1 - tanh^2 t) t' / 2)
Demands gelu_backward(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const GeluClaims claims = claims_of_gelu(call, profile, out.element);
  return {elementwise<2>(
      call, profile, output_name(call), out, {call.tensor("grad_output"), call.tensor("self")},
      [=](const auto& a, Bounded g, Bounded x) {
        if (claims.by_tanh) {
          const Bounded th = a.monotone([](double t) { return std::tanh(t); }, inner_of(a, x), claims.tanh);
          const Bounded left = a.mul({0.5, 0}, a.add({1, 0}, th));
          const Bounded slope =
              a.mul(held(0.79788456080286535588), a.add({1, 0}, a.mul(a.mul(held(0.044715), {3, 0}), a.mul(x, x))));
          const Bounded right = a.mul(a.mul(a.mul({0.5, 0}, x), a.sub({1, 0}, a.mul(th, th))), slope);
          return a.mul(g, a.add(left, right));
        }
        const Bounded cdf = a.mul({0.5, 0}, a.add({1, 0}, erf_of(a, a.mul(x, held(std::numbers::sqrt2 / 2)), claims)));
        Bounded density = a.monotone([](double t) { return std::exp(t); }, a.mul(a.mul(x, x), {-0.5, 0}), claims.exp);
        density = a.mul(density, held(0.39894228040143267794));  // 1 / sqrt(2 pi)
        return a.mul(g, a.add(cdf, a.mul(x, density)));
      })};
}
const RegisterOperations gelus_backward{{"gelu_backward"}, gelu_backward};

/// x where beta x > threshold, else log(1 + e^(beta x)) / beta, and its gradient.
Demands softplus(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const double beta = call.number("beta", 1), threshold = call.number("threshold", 20);
  const FunctionError exp = error_of(profile, "exp", out.element), log1p = error_of(profile, "log1p", out.element);
  const Bounded b{static_cast<float>(beta), 0};
  if (call.name == "softplus")
    return {elementwise<1>(call, profile, output_name(call), out, {call.tensor("self")}, [=](const auto& a, Bounded x) {
      const Bounded scaled = a.mul(x, b);
      if (static_cast<float>(scaled.v) > threshold) return x;
      const Bounded power = a.monotone([](double t) { return std::exp(t); }, scaled, exp);
      return a.div(a.monotone([](double t) { return std::log1p(t); }, power, log1p), b);
    })};
  return {elementwise<2>(call, profile, output_name(call), out, {call.tensor("grad_output"), call.tensor("self")},
                         [=](const auto& a, Bounded g, Bounded x) {
                           const Bounded scaled = a.mul(x, b);
                           if (static_cast<float>(scaled.v) > threshold) return g;
                           return a.mul(g, sigmoid(a, scaled, exp));
                         })};
}
const RegisterOperations softpluses{{"softplus", "softplus_backward"}, softplus};

/// x clamp(x + 3, 0, 6) / 6; clamp(x + 3, 0, 6) / 6; and their gradients.
Demands hard(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const std::string name = call.name;
  const auto gate = [](const auto& a, Bounded x) {
    const Bounded y = a.add(x, {3, 0});
    const auto held = [](double t) { return std::isnan(t) ? t : std::clamp(t, 0.0, 6.0); };
    if (!std::isfinite(y.v) || !decided(y)) return Bounded{held(y.v), y.e};
    return Bounded{held(y.v), std::max(held(y.v + y.e) - held(y.v), held(y.v) - held(y.v - y.e))};
  };
  const auto sixth = [](const auto& a, Bounded x) { return either(a, a.div(x, {6, 0}), a.mul(x, held(1.0 / 6))); };
  if (name == "hardsigmoid" || name == "hardswish")
    return {elementwise<1>(call, profile, output_name(call), out, {call.tensor("self")}, [=](const auto& a, Bounded x) {
      if (name == "hardsigmoid") return sixth(a, gate(a, x));
      return either(a, sixth(a, a.mul(x, gate(a, x))), a.mul(x, sixth(a, gate(a, x))));
    })};
  return {elementwise<2>(call, profile, output_name(call), out, {call.tensor("grad_output"), call.tensor("self")},
                         [=](const auto& a, Bounded g, Bounded x) {
                           if (name == "hardsigmoid_backward") return x.v > -3 && x.v < 3 ? sixth(a, g) : Bounded{0, 0};
                           const Bounded third = either(a, a.div(x, {3, 0}), a.mul(x, held(1.0 / 3)));
                           const Bounded inside = a.mul(g, a.add(third, {0.5, 0}));
                           // Versions differ in which side the ends belong to.
                           if (x.v == -3) return Bounded{0, std::fabs(inside.v) + inside.e};
                           if (x.v == 3) return Bounded{g.v, std::fabs(inside.v - g.v) + inside.e};
                           return x.v < -3 ? Bounded{0, 0} : x.v > 3 ? g : inside;
                         })};
}
const RegisterOperations hards{{"hardswish", "hardsigmoid", "hardswish_backward", "hardsigmoid_backward"}, hard};

/// x > 0 ? x : slope x, and its gradient.
Demands leaky(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const Bounded slope{static_cast<float>(call.number("negative_slope", 0.01)), 0};
  if (call.name.starts_with("leaky_relu_backward"))
    return {elementwise<2>(call, profile, output_name(call), out, {call.tensor("grad_output"), call.tensor("self")},
                           [=](const auto& a, Bounded g, Bounded x) { return x.v > 0 ? g : a.mul(g, slope); })};
  return {elementwise<1>(call, profile, output_name(call), out, {call.tensor("self")},
                         [=](const auto& a, Bounded x) { return x.v > 0 ? x : a.mul(x, slope); })};
}
const RegisterOperations leakies{{"leaky_relu", "leaky_relu_backward"}, leaky};

/// x^p: products for 2 and 3, a root for 1/2, quotients for -1, -2 and -1/2; else a library's function.
template <class A>
Bounded power(const A& a, Bounded x, double p, FunctionError pow, FunctionError sqrt) {
  const auto root = [&](Bounded y) { return a.monotone([](double t) { return std::sqrt(t); }, y, sqrt); };
  const Bounded one{1, 0};
  if (p == 0) return one;
  if (p == 1) return x;
  if (p == 2) return a.mul(x, x);
  if (p == 3) return a.mul(a.mul(x, x), x);
  if (p == 0.5) return root(x);
  if (p == -1) return a.div(one, x);
  if (p == -2) return either(a, a.div(one, a.mul(x, x)), a.mul(a.div(one, x), a.div(one, x)));
  if (p == -0.5)
    return either(a, a.div(one, root(x)), a.monotone([](double t) { return 1 / std::sqrt(t); }, x, claimed(2)));
  if (x.e != 0) return {std::pow(x.v, p), infinite};
  return a.monotone([p](double t) { return std::pow(t, p); }, x, pow);
}

Demands powers(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  if (!is_float(out.element)) throw NotJudged("a power of integers");
  constexpr double library_pow_ulps = 4;
  const FunctionError pow = claimed(profile.number("pow", out.element, "ulps", library_pow_ulps));
  const FunctionError sqrt = claimed(profile.number("sqrt", out.element, "ulps", 0.5));
  const Operand x = operand_of(call, "self");
  const Operand p = operand_of(call, "exponent");
  if (!p.view) {
    if (p.number == 2 && !profile.says("pow", out.element, "rounds_between"))
      return {rounded_once<1>(call, output_name(call), out, {x}, [](double y) { return y * y; })};
    // In 16 bits a kernel may round the exponent to its own format.
    const double exponent = static_cast<float>(call.number("exponent"));
    const double stored = is_half(out.element) ? rounded(format_of(out.element), exponent) : exponent;
    return {elementwise<1>(call, profile, output_name(call), out, {x}, [=](const auto& a, Bounded y) {
      const Bounded as_is = power(a, y, exponent, pow, sqrt);
      if (stored == exponent) return as_is;
      const Bounded other = power(a, y, stored, pow, sqrt);
      return Bounded{as_is.v, std::max(as_is.e, std::fabs(other.v - as_is.v) + other.e)};
    })};
  }
  return {elementwise<2>(call, profile, output_name(call), out, {x, p}, [=](const auto& a, Bounded y, Bounded q) {
    if (y.e != 0 || q.e != 0) return Bounded{std::pow(y.v, q.v), infinite};
    return a.monotone([q](double t) { return std::pow(t, q.v); }, y, pow);
  })};
}
const RegisterOperations all_powers{{"pow"}, powers};

/// 1 / sqrt(x), or a library's function.
Demands rsqrt(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const FunctionError sqrt = claimed(profile.number("sqrt", out.element, "ulps", 0.5));
  return {elementwise<1>(call, profile, output_name(call), out, {call.tensor("self")},
                         [=](const auto& a, Bounded x) { return power(a, x, -0.5, {}, sqrt); })};
}
const RegisterOperations registered{{"rsqrt"}, rsqrt};

}  // namespace
}  // namespace tally::oracle::operations::functions_rules
