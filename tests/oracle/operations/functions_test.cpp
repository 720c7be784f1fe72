#include <numbers>

#include "tests/oracle/operations/machines.hpp"

namespace tally::oracle::operations::functions_test {
namespace {

using Random = std::mt19937_64;

/// What an elementwise operation reads: drawn numbers, and those that are hard for functions.
Numbers hard(Element element, Random& random) {
  Numbers all{0.0, -0.0, 1, -1, 3, -3, 6, 20, 20.5, -20, 88, -88, 100, -100, -104, infinite, -infinite, NAN};
  for (const double least : {0x1p-149, -0x1p-149, 0x1p-126, 0x1p-24, -0x1p-13}) all.push_back(least);
  for (const double each : {1e4, -1e4, 1e19, -1e19, 3e38, -3e38}) all.push_back(each);
  for (const Data data : kinds)
    for (const double each : drawn(data, 40, element, random)) all.push_back(each);
  for (double& each : all) each = written(element, each);
  return all;
}

using Machine = std::function<float(float, Random&)>;
using GradientMachine = std::function<float(float, float, Random&)>;

Held held_of(const std::string& name, const Machine& machine, const Arguments& more = {}) {
  Random random(1);
  Held held;
  for (const Element element : formats)
    for (int draw = 0; draw < 8; ++draw) {
      const Numbers x = hard(element, random);
      Floats y;
      for (const double each : x) y.push_back(machine(static_cast<float>(each), random));
      Arguments arguments{{"self", vector_of(x, element)}};
      arguments.insert(more.begin(), more.end());
      held.add(call_of(name, arguments, {vector_of(stored(element, y), element)}));
    }
  held.report(name);
  return held;
}

Held held_of_gradient(const std::string& name, const GradientMachine& machine, const Arguments& more = {},
                      const char* second = "self", bool in_range = false) {
  Random random(1);
  Held held;
  for (const Element element : formats)
    for (int draw = 0; draw < 8; ++draw) {
      Numbers x = hard(element, random);
      if (in_range)
        for (double& each : x) each = written(element, std::isfinite(each) ? each / (1 + std::fabs(each)) : 1);
      const Numbers g =
          drawn(draw % 2 == 0 ? Data::normal : Data::tiny, static_cast<std::int64_t>(x.size()), element, random);
      Floats y;
      for (std::size_t i = 0; i < x.size(); ++i)
        y.push_back(machine(static_cast<float>(g[i]), static_cast<float>(x[i]), random));
      Arguments arguments{{"grad_output", vector_of(g, element)}, {second, vector_of(x, element)}};
      arguments.insert(more.begin(), more.end());
      held.add(call_of(name, arguments, {vector_of(stored(element, y), element)}));
    }
  held.report(name);
  return held;
}

TEST(FunctionRules, HoldFunctionsOfLibraries) {
  using Function = double (*)(double);
  const std::pair<const char*, Function> all[] = {
      {"exp", std::exp},   {"exp2", std::exp2},   {"expm1", std::expm1}, {"log", std::log},
      {"log2", std::log2}, {"log10", std::log10}, {"log1p", std::log1p}, {"erf", std::erf},
      {"erfc", std::erfc}, {"tanh", std::tanh},   {"atan", std::atan},   {"asin", std::asin},
      {"acos", std::acos}, {"sinh", std::sinh},   {"sin", std::sin},     {"cos", std::cos}};
  for (const auto& [name, f] : all) held_of(name, [f = f](float x, Random& r) { return function(f(x), r); });
  held_of("rsqrt", [](float x, Random& r) {
    return r() % 2 == 0 ? 1 / std::sqrt(x) : function(1 / std::sqrt(static_cast<double>(x)), r);
  });
}

float sigmoid(float x, Random& r) { return 1 / (1 + function(std::exp(-static_cast<double>(x)), r)); }

TEST(FunctionRules, HoldLogisticOnes) {
  held_of("sigmoid", sigmoid);
  held_of("silu", [](float x, Random& r) {
    return r() % 2 == 0 ? x * sigmoid(x, r) : x / (1 + function(std::exp(-static_cast<double>(x)), r));
  });
  held_of_gradient("silu_backward", [](float g, float x, Random& r) {
    const float s = sigmoid(x, r), t = r() % 2 == 0 ? std::fma(x, 1 - s, 1.0f) : 1 + x * (1 - s);
    return r() % 2 == 0 ? g * s * t : g * (s * t);
  });
  const auto backward = [](float g, float y, Random& r) { return r() % 2 == 0 ? g * (1 - y) * y : g * ((1 - y) * y); };
  held_of_gradient("sigmoid_backward", backward, {}, "output", true);
  held_of_gradient(
      "tanh_backward",
      [](float g, float y, Random& r) { return r() % 2 == 0 ? g * (1 - y * y) : std::fma(-g, y * y, g); }, {}, "output",
      true);
}

TEST(FunctionRules, HoldGelus) {
  constexpr auto root = static_cast<float>(std::numbers::sqrt2 / 2), k = 0.79788456080286535588f, c = 0.044715f;
  const auto erf = [](float x, Random& r) { return function(std::erf(static_cast<double>(x)), r); };
  const auto tanh = [](float x, Random& r) { return function(std::tanh(static_cast<double>(x)), r); };
  held_of("gelu", [=](float x, Random& r) {
    const float inner = 1 + erf(x * root, r);
    return r() % 2 == 0 ? 0.5f * x * inner : x * (0.5f * inner);
  });
  held_of("gelu",
          [=](float x, Random& r) {
            const float cube = r() % 2 == 0 ? c * (x * x * x) : c * x * x * x;
            return 0.5f * x * (1 + tanh(k * (x + cube), r));
          },
          {{"approximate", "tanh"}});
  held_of_gradient("gelu_backward", [=](float g, float x, Random& r) {
    const float cdf = 0.5f * (1 + erf(x * root, r));
    const float density = function(std::exp(static_cast<double>(x * x * -0.5f)), r) * 0.39894228040143267794f;
    return r() % 2 == 0 ? g * std::fma(x, density, cdf) : g * (cdf + x * density);
  });
  held_of_gradient("gelu_backward",
                   [=](float g, float x, Random& r) {
                     const float th = tanh(k * (x + c * (x * x * x)), r), left = 0.5f * x, right = 1 + th;
                     const float slope = k * (1 + 3 * c * (x * x));
                     return g * (0.5f * right + left * (1 - th * th) * slope);
                   },
                   {{"approximate", "tanh"}});
}

TEST(FunctionRules, HoldActivationsOfParts) {
  const auto gate = [](float x) { return std::min(std::max(x + 3, 0.0f), 6.0f); };
  const auto sixth = [](float x, Random& r) { return r() % 2 == 0 ? x / 6 : x * (1.0f / 6); };
  const auto nan = [](float x, float y) { return std::isnan(x) ? x : y; };
  held_of("hardsigmoid", [=](float x, Random& r) { return nan(x, sixth(gate(x), r)); });
  held_of("hardswish",
          [=](float x, Random& r) { return nan(x, r() % 2 == 0 ? sixth(x * gate(x), r) : x * sixth(gate(x), r)); });
  held_of_gradient("hardsigmoid_backward",
                   [=](float g, float x, Random& r) { return x > -3 && x < 3 ? sixth(g, r) : 0; });
  held_of_gradient("hardswish_backward", [=](float g, float x, Random& r) {
    return x < -3 ? 0 : x > 3 ? g : g * ((r() % 2 == 0 ? x / 3 : x * (1.0f / 3)) + 0.5f);
  });
  held_of("leaky_relu", [](float x, Random&) { return x > 0 ? x : x * 0.01f; }, {{"negative_slope", 0.01}});
  held_of_gradient("leaky_relu_backward", [](float g, float x, Random&) { return x > 0 ? g : g * 0.01f; },
                   {{"negative_slope", 0.01}});
  const auto exp = [](float x, Random& r) { return function(std::exp(static_cast<double>(x)), r); };
  const Arguments soft{{"beta", 1.5}, {"threshold", 20}};
  held_of(
      "softplus",
      [=](float x, Random& r) {
        const float power = exp(x * 1.5f, r);
        return x * 1.5f > 20 ? x : function(std::log1p(static_cast<double>(power)), r) / 1.5f;
      },
      soft);
  held_of_gradient(
      "softplus_backward",
      [=](float g, float x, Random& r) {
        const float z = exp(x * 1.5f, r);
        return x * 1.5f > 20 ? g : g * z / (z + 1);
      },
      soft);
}

TEST(FunctionRules, HoldPowers) {
  held_of("pow", [](float x, Random&) { return x * x; }, {{"exponent", 2}});
  held_of("pow", [](float x, Random&) { return x * x * x; }, {{"exponent", 3}});
  held_of("pow", [](float x, Random&) { return std::sqrt(x); }, {{"exponent", 0.5}});
  held_of("pow", [](float x, Random&) { return 1 / x; }, {{"exponent", -1}});
  held_of("pow", [](float x, Random& r) { return r() % 2 == 0 ? 1 / (x * x) : (1 / x) * (1 / x); }, {{"exponent", -2}});
  held_of("pow",
          [](float x, Random& r) { return function(std::pow(static_cast<double>(x), static_cast<double>(1.7F)), r); },
          {{"exponent", 1.7}});
}

/// A gate that is shut, or open, rounds nothing.
TEST(FunctionRules, HoldShutAndOpenGatesToTheBit) {
  const Arguments x{{"self", vector_of({-10, -1000, 1000})}};
  const auto wrong = [&](const char* name, const Numbers& y) {
    return standing_of(call_of(name, x, {vector_of(y)})).wrong;
  };

  EXPECT_EQ(wrong("hardswish", {0, 0, 1000}), 0);
  EXPECT_EQ(wrong("hardswish", {-0x1p-30, 0, 1000}), 1);
  EXPECT_EQ(wrong("hardsigmoid", {0, 0, 1}), 0);
  EXPECT_EQ(wrong("hardsigmoid", {0, 0x1p-30, 1}), 1);
}

/// Each wrong function of the same numbers is seen.
TEST(FunctionRules, SeeWrongFunctions) {
  Random random(2);
  const Numbers x = drawn(64, random), g = drawn(64, random);
  const auto caught = [&](const char* name, const std::function<double(double, double)>& f, Arguments arguments = {}) {
    Numbers y;
    for (std::size_t i = 0; i < x.size(); ++i) y.push_back(f(x[i], g[i]));
    arguments.insert({{"self", vector_of(x)}, {"output", vector_of(x)}, {"grad_output", vector_of(g)}});
    expect_caught(call_of(name, arguments, {vector_of(y)}));
  };
  const auto sigma = [](double t) { return 1 / (1 + std::exp(-t)); };
  const auto cdf = [](double t) { return std::erfc(-t * std::numbers::sqrt2 / 2) / 2; };
  const auto by_tanh = [](double t) {
    return (1 + std::tanh(0.79788456080286535588 * (t + 0.044715 * t * t * t))) / 2;
  };
  const auto density = [](double t) { return std::exp(-t * t / 2) * 0.39894228040143267794; };
  caught("gelu", [&](double t, double) { return t * by_tanh(t); });
  caught("gelu", [&](double t, double) { return t * cdf(t); }, {{"approximate", "tanh"}});
  caught("gelu", [&](double t, double) { return t * sigma(1.702 * t); });
  caught("gelu_backward", [&](double t, double d) { return d * cdf(t); });  // without x phi(x)
  caught("gelu_backward", [&](double t, double d) { return d * (cdf(t) + density(t)); });
  caught("silu", [&](double t, double) { return t * cdf(t); });
  caught("silu_backward", [&](double t, double d) { return d * sigma(t); });
  caught("sigmoid", [&](double t, double) { return rounded_to(Element::bfloat16, static_cast<float>(sigma(t))); });
  caught("sigmoid_backward", [](double t, double d) { return d * t; });
  caught("tanh_backward", [](double t, double d) { return d * (1 - t); });
  caught("exp", [](double t, double) { return std::exp(t) * (1 + 0x1p-20); });
  caught("tanh", [](double t, double) { return std::erf(t); });
  caught("hardswish", [&](double t, double) { return t * sigma(t); });
  caught("leaky_relu", [](double t, double) { return t > 0 ? t : 0.02 * t; });
  caught("softplus", [](double t, double) { return std::log1p(std::exp(t)) * 2; }, {{"beta", 2}});
  caught("pow", [](double t, double) { return std::fabs(t * t * t); }, {{"exponent", 3}});
  caught("rsqrt", [](double t, double) { return std::sqrt(std::fabs(t)); });
}

}  // namespace
}  // namespace tally::oracle::operations::functions_test
