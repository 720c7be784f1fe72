// Norms whose gradients are not at hand together are those of all of them.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "oracle/tolerance/bounded.hpp"
#include "oracle/window/bound_stages.hpp"
#include "tests/oracle/undeclared.hpp"

namespace tally::oracle::norm_terms_test {
namespace {

Choice by_norm(const std::string& order) {
  return {"global_norm", {{"max_norm", Decimal{"1"}}, {"norm", order}, {"epsilon", Decimal{"0"}}}};
}

Expected drawn(std::mt19937& draw, Eigen::Index columns, double off) {
  Expected x{Matrix<long double>(1, columns), Matrix<double>(1, columns)};
  std::normal_distribution<double> values;
  for (Eigen::Index i = 0; i < columns; ++i) {
    x.v(0, i) = static_cast<float>(values(draw));
    x.e(0, i) = off * std::fabs(static_cast<double>(x.v(0, i)));
  }
  return x;
}

/// In units of the last place of a long double.
double apart(const Expected& a, const Expected& b) {
  const long double ulp = std::numeric_limits<long double>::epsilon() * std::fabs(b.v(0, 0));
  return static_cast<double>(std::fabs(a.v(0, 0) - b.v(0, 0)) / ulp);
}

TEST(NormTerms, OfPartsAreThoseOfTheWhole) {
  std::mt19937 draw(1);
  for (const char* order : {"1", "2", "inf"}) {
    const Choice clip = by_norm(order);
    ExpectedTensors gradients{{"a", drawn(draw, 40, 0x1p-24)}, {"b", drawn(draw, 7, 0)}};
    NormTerms first, second;
    first.add(undeclared(), clip, gradients.at("a"));
    second.add(undeclared(), clip, gradients.at("b"));
    first.add(clip, second);
    const Expected whole = norm(undeclared(), clip, gradients), joined = norm(undeclared(), clip, first);
    EXPECT_LE(apart(joined, whole), 47) << order;  // roundings of a sum of 47 terms
    EXPECT_LE(joined.e(0, 0), whole.e(0, 0) * inflation) << order;
    EXPECT_GE(joined.e(0, 0) * inflation, whole.e(0, 0)) << order;
    EXPECT_EQ(first.count(), 47);
  }
}

/// The bound of scaled terms holds what each element may be off, and is exact where a power of two scales.
TEST(NormTerms, TimesAFactorAreThoseOfTheProducts) {
  std::mt19937 draw(2);
  for (const char* order : {"1", "2", "inf"}) {
    for (const double factor : {0x1p-10, 3.0, 1.0 / 3}) {
      const Choice clip = by_norm(order);
      const Expected buffer = drawn(draw, 50, 0x1p-24), by = scalar(static_cast<float>(factor));
      NormTerms terms, products;
      terms.add(undeclared(), clip, buffer);
      products.add(undeclared(), clip, scaled(undeclared(), buffer, by));
      const NormTerms scaled_terms = terms.times(undeclared(), clip, by);
      EXPECT_LE(apart(scalar(scaled_terms.power_sum), scalar(products.power_sum)), 150) << order << " " << factor;
      EXPECT_GE(scaled_terms.sum_e, products.sum_e) << order << " " << factor;
      EXPECT_GE(scaled_terms.squares_e, products.squares_e) << order << " " << factor;
      EXPECT_GE(scaled_terms.largest_e, products.largest_e) << order << " " << factor;
      EXPECT_LE(scaled_terms.sum_e, 2 * products.sum_e) << order << " " << factor;
    }
  }
}

TEST(NormTerms, OfASumOfSquaresHoldTheNormAndWhatItMayBeOff) {
  std::mt19937 draw(3);
  const Choice clip = by_norm("2");
  const Expected gradient = drawn(draw, 5000, 0);
  double forwards = 0, backwards = 0;
  for (Eigen::Index i = 0; i < 5000; ++i) {
    const auto a = static_cast<double>(gradient.v(0, i)), b = static_cast<double>(gradient.v(0, 4999 - i));
    forwards += a * a;
    backwards += b * b;
  }
  const Expected whole = norm(undeclared(), clip, {{"g", gradient}});
  for (const double sum : {forwards, backwards}) {
    const Expected said = norm(undeclared(), clip, terms_of_squares(5000, sum));
    EXPECT_LE(std::fabs(static_cast<double>(said.v(0, 0) - whole.v(0, 0))), said.e(0, 0) - whole.e(0, 0));
    EXPECT_LE(said.e(0, 0), 2 * whole.e(0, 0));
  }
}

TEST(NormTerms, ThatAreNotFiniteGiveNoNorm) {
  const Expected said = norm(undeclared(), by_norm("2"), terms_of_squares(10, std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(std::isfinite(said.v(0, 0)));
}

}  // namespace
}  // namespace tally::oracle::norm_terms_test
