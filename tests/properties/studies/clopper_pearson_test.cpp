#include "properties/studies/clopper_pearson.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace tally {
namespace {

/// P(X <= events) of a binomial variable, summed term by term.
double at_most(std::uint64_t events, std::uint64_t trials, double p) {
  double sum = 0;
  for (std::uint64_t k = 0; k <= events; ++k) {
    const auto n = static_cast<double>(trials), x = static_cast<double>(k);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) + x * std::log(p) +
                    (n - x) * std::log1p(-p));
  }
  return sum;
}

TEST(ClopperPearson, without_events_lies_between_the_exact_formula_and_the_rule_of_three) {
  for (const std::uint64_t n : {10u, 300u, 30'000u}) {
    const double upper = clopper_pearson_upper(0, n);
    EXPECT_EQ(std::lround(1e9 * upper), std::lround(1e9 * -std::expm1(std::log(0.05) / static_cast<double>(n)))) << n;
    EXPECT_LT(upper, 3.0 / static_cast<double>(n));
    EXPECT_EQ(clopper_pearson_lower(0, n), 0);
  }
}

TEST(ClopperPearson, upper_is_where_so_few_events_would_have_the_chance_one_in_twenty) {
  for (const std::uint64_t events : {1u, 2u, 7u}) {
    const double upper = clopper_pearson_upper(events, 1000);
    EXPECT_EQ(std::lround(1e6 * at_most(events, 1000, upper)), 50'000) << events;
  }
}

TEST(ClopperPearson, lower_mirrors_upper) {
  EXPECT_EQ(std::lround(1e9 * clopper_pearson_lower(7, 20)), std::lround(1e9 * (1 - clopper_pearson_upper(13, 20))));
  EXPECT_EQ(clopper_pearson_upper(20, 20), 1);
  EXPECT_EQ(clopper_pearson_upper(0, 0), 1);
  EXPECT_THROW(clopper_pearson_upper(2, 1), std::invalid_argument);
}

}  // namespace
}  // namespace tally
