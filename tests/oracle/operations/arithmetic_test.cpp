#include "tests/oracle/operations/machines.hpp"

namespace tally::oracle::operations::arithmetic_test {
namespace {

constexpr std::int64_t n = 500;

/// Two tensors of each kind of data.
template <class F>
void each_pair(F f) {
  std::mt19937_64 random(1);
  for (const Element element : formats)
    for (const Data data : kinds) {
      const Numbers x = drawn(data, n, element, random), y = drawn(data, n, element, random);
      f(element, x, y, random);
    }
}

template <class F>
View out_of(Element element, const Numbers& x, const Numbers& y, F f) {
  Floats all;
  for (std::size_t i = 0; i < x.size(); ++i) all.push_back(f(static_cast<float>(x[i]), static_cast<float>(y[i])));
  return vector_of(stored(element, all), element);
}

TEST(ArithmeticRules, DemandOneOperationToTheBit) {
  each_pair([](Element element, const Numbers& x, const Numbers& y, std::mt19937_64&) {
    const Arguments both{{"self", vector_of(x, element)}, {"other", vector_of(y, element)}};
    const auto held = [&](const char* name, auto f) {
      const View right = out_of(element, x, y, f);
      EXPECT_EQ(standing_of(call_of(name, both, {right})).wrong, 0) << name;
      const View wrong = vector_of({right.read()[0] == 1 ? 3.0 : 1.0}, element);
      const Arguments first{{"self", vector_of({x[0]}, element)}, {"other", vector_of({y[0]}, element)}};
      expect_caught(call_of(name, first, {wrong}));
    };
    held("add", [](float a, float b) { return a + b; });
    held("sub", [](float a, float b) { return a - b; });
    held("rsub", [](float a, float b) { return b - a; });
    held("mul", [](float a, float b) { return a * b; });
    held("div", [](float a, float b) { return a / b; });
    held("maximum", [](float a, float b) { return std::max(a, b); });
    held("minimum", [](float a, float b) { return std::min(a, b); });
    held("sqrt", [](float a, float) { return std::sqrt(a); });
    held("reciprocal", [](float a, float) { return 1 / a; });
    held("neg", [](float a, float) { return -a; });
    held("relu", [](float a, float) { return std::max(a, 0.0f); });
  });
}

TEST(ArithmeticRules, HoldSeveralOperationsInEitherGrouping) {
  Held alphas, products, quotients, lerps;
  each_pair([&](Element element, const Numbers& x, const Numbers& y, std::mt19937_64& random) {
    const View a = vector_of(x, element), b = vector_of(y, element);
    for (const bool other : {false, true}) {
      alphas.add(call_of(
          "add", {{"self", a}, {"other", b}, {"alpha", 0.3}},
          {out_of(element, x, y, [=](float p, float q) { return other ? std::fma(0.3f, q, p) : p + 0.3f * q; })}));
      alphas.add(call_of(
          "rsub", {{"self", a}, {"other", b}, {"alpha", 0.3}},
          {out_of(element, x, y, [=](float p, float q) { return other ? std::fma(-0.3f, p, q) : q - 0.3f * p; })}));
      const Arguments three{{"self", b}, {"tensor1", a}, {"tensor2", b}, {"value", -0.7}};
      products.add(call_of("addcmul", three, {out_of(element, x, y, [=](float p, float q) {
                             return other ? std::fma(-0.7f, p * q, q) : q + -0.7f * p * q;
                           })}));
      quotients.add(call_of("addcdiv", three, {out_of(element, x, y, [=](float p, float q) {
                              return other ? q + -0.7f * (p / q) : q + -0.7f * p / q;
                            })}));
      for (const float w : {0.0f, 0.1f, 0.9f, 1.0f})
        lerps.add(call_of("lerp", {{"self", a}, {"end", b}, {"weight", static_cast<double>(w)}},
                          {out_of(element, x, y, [=](float p, float q) {
                            return other ? std::fma(w, q - p, p) : w < 0.5f ? p + w * (q - p) : q - (q - p) * (1 - w);
                          })}));
    }
    (void)random;
  });
  alphas.report("add with alpha");
  products.report("addcmul");
  quotients.report("addcdiv");
  lerps.report("lerp");
}

TEST(ArithmeticRules, SeeWrongGroupings) {
  std::mt19937_64 random(2);
  const Numbers x = drawn(n, random), y = drawn(n, random);
  const View a = vector_of(x), b = vector_of(y);
  const auto caught = [&](const char* name, const Arguments& more, auto f) {
    Arguments arguments{{"self", a}, {"other", b}, {"end", b}, {"tensor1", b}, {"tensor2", b}};
    arguments.insert(more.begin(), more.end());
    expect_caught(call_of(name, arguments, {out_of(Element::float32, x, y, f)}));
  };
  caught("add", {{"alpha", 0.3}}, [](float p, float q) { return p + q; });
  caught("sub", {{"alpha", 0.3}}, [](float p, float q) { return p + 0.3f * q; });
  caught("rsub", {}, [](float p, float q) { return p - q; });
  caught("lerp", {{"weight", 0.25}}, [](float p, float q) { return p + 0.75f * (q - p); });
  caught("addcmul", {{"value", 0.1}}, [](float p, float q) { return p + 0.1f * q; });  // a moment unsquared
  caught("addcdiv", {{"value", 0.1}}, [](float p, float q) { return p + 0.1f * q * q; });
  caught("mul", {}, [](float p, float q) { return rounded_to(Element::bfloat16, p * q); });
  caught("div", {}, [](float p, float q) { return p * (1 / q); });
}

TEST(ArithmeticRules, HoldWholeNumbersAndBooleans) {
  const auto wrong = [](const char* name, Element element, const Numbers& x, const Numbers& y, const Numbers& z,
                        Element out) {
    return standing_of(
               call_of(name, {{"self", vector_of(x, element)}, {"other", vector_of(y, element)}}, {vector_of(z, out)}))
        .wrong;
  };
  const Element bytes = Element::uint8, whole = Element::int64, boolean = Element::boolean;
  EXPECT_EQ(wrong("add", bytes, {200}, {100}, {44}, bytes), 0) << "it wraps";
  EXPECT_EQ(wrong("neg", Element::int8, {-128}, {0}, {-128}, Element::int8), 0);
  EXPECT_EQ(wrong("bitwise_not", bytes, {5}, {0}, {250}, bytes), 0);
  EXPECT_EQ(wrong("add", boolean, {1, 1}, {1, 0}, {1, 1}, boolean), 0) << "a boolean sum is its disjunction";
  EXPECT_EQ(wrong("add", boolean, {0}, {0}, {1}, boolean), 1);
  EXPECT_EQ(wrong("eq", whole, {0x1p60}, {0x1p60}, {0}, boolean), 0) << "undecided beyond binary64";
  EXPECT_EQ(wrong("eq", whole, {5, 5}, {5, 6}, {1, 1}, boolean), 1);
  EXPECT_EQ(wrong("__and__", whole, {6}, {3}, {2}, whole), 0);
  EXPECT_EQ(wrong("bitwise_xor", whole, {6}, {3}, {5}, whole), 0);
  EXPECT_EQ(wrong("bitwise_or", whole, {6}, {3}, {7}, whole), 0);
  EXPECT_EQ(wrong("floor_divide", whole, {-7}, {2}, {-4}, whole), 0);
  EXPECT_EQ(wrong("floor_divide", whole, {-7}, {2}, {-3}, whole), 1);
  EXPECT_EQ(wrong("div", whole, {1}, {3}, {0x1.555556p-2}, Element::float32), 0);
}

TEST(ArithmeticRules, HoldDecisions) {
  const Numbers x{-1.5, 0, 2, NAN, -infinite};
  const View self = vector_of(x);
  const auto wrong = [&](const char* name, const Arguments& more, const Numbers& y, Element out = Element::float32) {
    Arguments arguments{{"self", self}};
    arguments.insert(more.begin(), more.end());
    return standing_of(call_of(name, arguments, {vector_of(y, out)})).wrong;
  };
  EXPECT_EQ(wrong("sign", {}, {-1, 0, 1, 0, -1}), 0);
  EXPECT_EQ(wrong("abs", {}, {1.5, 0, 2, NAN, infinite}), 0);
  EXPECT_EQ(wrong("floor", {}, {-2, 0, 2, NAN, -infinite}), 0);
  EXPECT_EQ(wrong("ceil", {}, {-1, 0, 2, NAN, -infinite}), 0);
  EXPECT_EQ(wrong("trunc", {}, {-1, 0, 2, NAN, -infinite}), 0);
  EXPECT_EQ(wrong("round", {}, {-2, 0, 2, NAN, -infinite}), 0);
  EXPECT_THROW(wrong("round", {{"decimals", 1}}, x), NotJudged);
  EXPECT_EQ(wrong("isnan", {}, {0, 0, 0, 1, 0}, Element::boolean), 0);
  EXPECT_EQ(wrong("isinf", {}, {0, 0, 0, 0, 1}, Element::boolean), 0);
  EXPECT_EQ(wrong("isfinite", {}, {1, 1, 1, 0, 0}, Element::boolean), 0);
  EXPECT_EQ(wrong("logical_not", {}, {0, 1, 0, 0, 0}, Element::boolean), 0);
  EXPECT_EQ(wrong("ge", {{"other", 0.0}}, {0, 1, 1, 0, 0}, Element::boolean), 0);
  EXPECT_EQ(wrong("gt", {{"other", 0.0}}, {0, 1, 1, 0, 0}, Element::boolean), 1) << "at the limit";
  EXPECT_EQ(wrong("clamp", {{"min", -1.0}, {"max", 1.0}}, {-1, 0, 1, NAN, -1}), 0);
  EXPECT_EQ(wrong("clamp", {{"min", NAN}}, {NAN, NAN, NAN, NAN, NAN}), 0);
  EXPECT_EQ(wrong("clamp_max", {{"max", 1.0}}, {-1.5, 0, 1, NAN, -infinite}), 0);
  EXPECT_EQ(wrong("hardtanh", {{"min_val", 0.0}, {"max_val", 6.0}}, {0, 0, 2, NAN, 0}), 0);
  const Arguments g{{"grad_output", vector_of({1, 2, 3, 4, 5})}, {"threshold", 0}};
  EXPECT_EQ(wrong("threshold_backward", g, {0, 0, 3, 4, 0}), 0);
  EXPECT_EQ(wrong("threshold_backward", g, {0, 2, 3, 4, 0}), 1) << "at the threshold";
}

/// A limit of fp32 is compared as a number of fp32.
TEST(ArithmeticRules, RoundLimitsToTheirFormat) {
  const double tenth = 0.1f;
  const Arguments arguments{
      {"grad_output", vector_of({1})}, {"self", vector_of({tenth})}, {"min_val", -0.1}, {"max_val", 0.1}};

  EXPECT_EQ(standing_of(call_of("hardtanh_backward", arguments, {vector_of({0})})).wrong, 0);
}

TEST(ArithmeticRules, BroadcastTheirOperands) {
  const View rows = tensor({2, 1}, {1, 2}), columns = tensor({3}, {10, 20, 30});
  const auto sum = [&](const View& out) { return call_of("add", {{"self", rows}, {"other", columns}}, {out}); };

  EXPECT_EQ(standing_of(sum(tensor({2, 3}, {11, 21, 31, 12, 22, 32}))).wrong, 0);
  EXPECT_EQ(standing_of(sum(strided({2, 3}, {1, 2}, {11, 21, 31, 12, 22, 32}))).wrong, 0) << "column by column";
  EXPECT_EQ(standing_of(sum(tensor({2, 3}, {11, 12, 21, 22, 31, 32}))).wrong, 4);
  EXPECT_THROW(standing_of(sum(tensor({2, 2}, {1, 2, 3, 4}))), NotJudged);
  EXPECT_EQ(
      standing_of(call_of("add", {{"self", tensor({0, 3}, {})}, {"other", columns}}, {tensor({0, 3}, {})})).elements,
      0);
}

TEST(ArithmeticRules, HoldEachTensorOfAList) {
  const View x = vector_of({1, 5}), y = vector_of({-2});
  const std::vector<View> both{x, y};
  const auto judged = [&](const char* name, Arguments arguments, const Numbers& first) {
    arguments["self"] = both;
    return standing_of(call_of(name, arguments, {}, {{"self", std::vector<View>{vector_of(first), y}}})).wrong;
  };

  EXPECT_EQ(judged("_foreach_clamp_max", {{"scalar", 2.0}}, {1, 2}), 0);
  EXPECT_EQ(judged("_foreach_clamp_max", {{"scalar", 2.0}}, {1, 5}), 1);
  EXPECT_EQ(judged("_foreach_mul", {{"scalar", 1.0}}, {1, 5}), 0);
  EXPECT_EQ(judged("_foreach_maximum", {{"other", both}}, {1, 6}), 1);
  EXPECT_EQ(judged("_foreach_lerp", {{"tensors1", both}, {"weight", 0.5}}, {1, 5}), 0);
  EXPECT_THROW(judged("_foreach_unknown", {}, {1, 5}), NotJudged);
}

}  // namespace
}  // namespace tally::oracle::operations::arithmetic_test
