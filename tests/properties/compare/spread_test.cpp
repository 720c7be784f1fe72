#include "properties/judge/spread.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "oracle/tolerance/bounded.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/verdict.hpp"
#include "tests/oracle/undeclared.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::spread_test {
namespace {

constexpr std::size_t count_of_elements = 4096;

/// Values as an fp32 kernel would store them after `height` further roundings, and what the lens expects of them.
struct Drawn {
  oracle::Expected expected{oracle::Matrix<long double>(1, count_of_elements),
                            oracle::Matrix<double>(1, count_of_elements), oracle::Matrix<double>(1, count_of_elements),
                            oracle::Matrix<double>(1, count_of_elements)};
  Tensor got{Dtype::fp32, {static_cast<std::int64_t>(count_of_elements)}};
  Tensor other{Dtype::fp32, {static_cast<std::int64_t>(count_of_elements)}};  // some other tensor of that size
};

/// One rounding to nearest fp32 of a number near v, taken to be random.
oracle::Bounded rounded_once(double v) {
  const oracle::Format fp32 = oracle::format_of(Dtype::fp32);
  const double half_ulp = fp32.unit_roundoff() * std::exp2(std::floor(std::log2(std::fabs(v))));
  const double e = oracle::Arithmetic(oracle::undeclared(), fp32).mul({v / 1.5, 0}, {1.5, 0}).e;
  return {v, e, e, half_ulp * half_ulp};
}

/// got = fl(v (1 + factor) + leak other), one rounding; the bound admits `roundings` of them.
Drawn drawn(double factor, double leak, double roundings) {
  Drawn d;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < count_of_elements; ++i) {
    const double v = normal(random);
    d.other.set(i, normal(random));
    const oracle::Bounded once = rounded_once(0.75 * v);
    d.expected.v.data()[i] = 0.75L * v;
    d.expected.e.data()[i] = once.e * roundings;
    d.expected.r.data()[i] = once.r * roundings;
    d.expected.s.data()[i] = once.s * roundings;
    d.got.set(i, 0.75 * v * (1 + factor) + leak * d.other.value(i));
  }
  return d;
}

SpreadFinding finding(const Drawn& d) { return spread_of(d.expected, d.got, {{"the other", &d.other}}); }

TEST(Spread, FindsNothingInOneRounding) {
  const SpreadFinding found = finding(drawn(0, 0, 1));

  EXPECT_EQ(verdict_of(found.log10_chance), SpreadVerdict::expected) << found.test << " " << found.log10_chance;
  EXPECT_EQ(found.comparisons, count_of_elements + 3);
}

TEST(Spread, NamesAFactorInsideTheBoundAndItsSize) {
  const double factor = 0x1p-24;  // half an ulp of most elements, and the bound admits four
  const Drawn d = drawn(factor, 0, 4);
  const SpreadFinding found = finding(d);

  EXPECT_EQ(judge(Place{}, d.expected, d.got).status, Status::pass);
  EXPECT_EQ(verdict_of(found.log10_chance), SpreadVerdict::fail);
  EXPECT_EQ(found.test, "along itself");
  EXPECT_GT(found.share, factor / 2);
  EXPECT_LT(found.share, factor * 2);
}

TEST(Spread, NamesTheTensorThatLeaksIn) {
  const SpreadFinding found = finding(drawn(0, 0x1p-24, 4));

  EXPECT_EQ(verdict_of(found.log10_chance), SpreadVerdict::fail);
  EXPECT_EQ(found.test, "along the other");
}

TEST(Spread, CountsOnlyWhatGoesBeyondALean) {
  const Drawn d = drawn(0x1p-24, 0, 4);
  const auto log10_chance = [&](double share_of_the_deviation) {
    Leans leans;
    for (const SpreadFinding& found : spread_tests(d.expected, d.got, {})) {
      leans[found.test] = found.deviation * share_of_the_deviation;
    }
    return spread_of(d.expected, d.got, {}, leans).log10_chance;
  };

  EXPECT_EQ(log10_chance(0), spread_of(d.expected, d.got, {}).log10_chance);
  EXPECT_GT(log10_chance(0.5), log10_chance(0));
  EXPECT_EQ(log10_chance(1), 0);
}

TEST(Spread, SeesLostBitsThatNoElementShowsAlone) {
  Drawn d = drawn(0, 0, 1);
  for (std::size_t i = 0; i < count_of_elements; ++i) {  // two bits fewer than declared
    const double v = d.got.value(i), unit = std::ldexp(1, std::ilogb(v) - 21);
    d.got.set(i, std::nearbyint(v / unit) * unit);
  }
  d.expected.e *= 16;  // wide enough for the worst of them
  d.expected.r *= 16;
  const SpreadFinding found = finding(d);

  EXPECT_EQ(judge(Place{}, d.expected, d.got).status, Status::pass);
  EXPECT_EQ(verdict_of(found.log10_chance), SpreadVerdict::fail);
  EXPECT_EQ(found.test, "tensor");
}

TEST(Spread, CountsElementsThatShareTheirRoundingOnce) {
  Drawn d = drawn(0, 0, 1);
  for (std::size_t i = 0; i < count_of_elements; ++i) {  // one value and its doubles, each with the same rounding error
    const double v = std::ldexp(1 + 0x1.7p-24, static_cast<int>(i % 3));
    d.expected.v.data()[i] = v;
    const oracle::Bounded once = rounded_once(v);
    d.expected.e.data()[i] = once.e;
    d.expected.r.data()[i] = once.r;
    d.expected.s.data()[i] = once.s;
    d.got.set(i, v);
  }
  const SpreadFinding found = finding(d);

  EXPECT_EQ(verdict_of(found.log10_chance), SpreadVerdict::expected) << found.test << " " << found.log10_chance;
}

/// Ten thousands of means of like batches: exact values a fraction of an ulp apart, all stored as one float.
TEST(Spread, CountsElementsThatCrowdWithinOneUlpOnce) {
  Drawn d = drawn(0, 0, 1);
  for (std::size_t i = 0; i < count_of_elements; ++i) {
    const long double v = 1 + 0x1.7p-24L + 0x1p-40L * static_cast<long double>(i);
    d.expected.v.data()[i] = v;
    const oracle::Bounded once = rounded_once(static_cast<double>(v));
    d.expected.e.data()[i] = once.e;
    d.expected.r.data()[i] = once.r;
    d.expected.s.data()[i] = once.s;
    d.got.set(i, 1);
  }
  const SpreadFinding found = finding(d);

  EXPECT_EQ(verdict_of(found.log10_chance), SpreadVerdict::expected) << found.test << " " << found.log10_chance;
}

TEST(Spread, AllowsTheDeterministicPartInEveryElement) {
  Drawn d = drawn(0, 0, 1);
  const double factor = 0x1p-20;
  for (std::size_t i = 0; i < count_of_elements; ++i) {
    const auto v = static_cast<double>(d.expected.v.data()[i]);
    d.got.set(i, v * (1 + factor));
    d.expected.e.data()[i] += factor * std::fabs(v);  // r stays: a constant that all share may be off by that
  }

  EXPECT_EQ(verdict_of(finding(d).log10_chance), SpreadVerdict::expected);
  d.expected.e -= factor / 2 * d.expected.v.cwiseAbs().cast<double>();
  EXPECT_EQ(verdict_of(finding(d).log10_chance), SpreadVerdict::fail);
}

TEST(Spread, SaysNothingWhereABoundHasNoRandomPart) {
  Drawn d = drawn(0x1p-20, 0, 1);
  d.expected.s.resize(0, 0);

  EXPECT_EQ(finding(d).comparisons, 0u);
  EXPECT_EQ(verdict_of(finding(d).log10_chance), SpreadVerdict::expected);
}

/// Where the gradient is a decay of 1/2000 of an fp16 parameter, some steps are rounded away and some doubled: every
/// element errs along the step itself.
TEST(Spread, ExpectsStepsThatRoundAway) {
  Case c = mlp(3, Dtype::fp16);
  c.model.input = 1100;
  c.model.layers = {layer_of("linear", "fc", {{"out", std::int64_t{4}}, {"bias", false}})};
  c.windows = {{1, 1}};
  c.precision.master = Dtype::fp16;
  c.recipe.weight_decay = choice_of("weight_decay", "l2", {{"lambda", Decimal{"0.01"}}});
  c.recipe.learning_rate = choice_of("learning_rate", "constant", {{"base", Decimal{"0.05"}}});
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 3);
  for (const char* name : {"x", "target"}) c.tensors.at(name) = Tensor(Dtype::fp16, c.tensors.at(name).shape);

  const auto checks = local_lens(c, run(c));
  EXPECT_EQ(first_failure(checks), nullptr) << told(first_failure(checks));
}

TEST(Spread, PassesCleanRunsInEveryFormatAndOrder) {
  std::uint64_t comparisons = 0;
  double least = 0;
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      RunOptions options;
      options.order_seed = seed;
      const Case c = normal_everything(seed, storage);
      for (const TensorCheck& check : local_lens(c, run(c, options))) {
        EXPECT_EQ(verdict_of(check.spread.log10_chance), SpreadVerdict::expected) << told(&check);
        comparisons += check.spread.comparisons;
        least = std::min(least, check.spread.log10_chance);
      }
    }
  }
  EXPECT_GT(comparisons, 0u);
  std::printf("  %llu comparisons, least chance 1e%.1f\n", static_cast<unsigned long long>(comparisons), least);
}

}  // namespace
}  // namespace tally::spread_test
