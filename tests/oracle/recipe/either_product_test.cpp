#include <gtest/gtest.h>

#include "oracle/recipe/recipe_rules.hpp"
#include "tests/oracle/undeclared.hpp"

namespace tally::oracle::either_product_test {
namespace {

/// The bound of fl(rate fl(m / divisor)), as a rule has it.
Bounded of_quotient(float rate, float m, float divisor) {
  const Arithmetic fp32 = single(undeclared());
  return fp32.mul({rate, 0}, fp32.div({m, 0}, {divisor, 0}));
}

TEST(EitherProduct, AdmitsAProductThatUnderflowsBeforeItIsDivided) {
  const float rate = 1e-5f, m = 1.2345e-36f, divisor = 1e-8f;
  const float product = rate * m, subject = product / divisor;
  const double exact = static_cast<double>(rate) * (static_cast<double>(m) / static_cast<double>(divisor));
  const double error = std::fabs(static_cast<double>(subject) - exact);
  const Bounded first = of_quotient(rate, m, divisor);

  EXPECT_GT(error, first.e) << "the product lost bits that the other evaluation keeps";
  EXPECT_LE(error, either_product(single(undeclared()), first, {rate, 0}, {m, 0}, static_cast<double>(divisor)).e);
}

TEST(EitherProduct, LeavesTheBoundOfAnUsualStepAsItIs) {
  const Bounded first = of_quotient(1e-3f, 0.25f, 0.5f);
  EXPECT_EQ(either_product(single(undeclared()), first, {1e-3, 0}, {0.25, 0}, 0.5).e, first.e);
}

TEST(EitherProduct, KnowsNothingOfAProductThatOverflows) {
  const Bounded first = of_quotient(1e25f, 1e14f, 1e14f);
  ASSERT_TRUE(decided(first));
  EXPECT_FALSE(decided(either_product(single(undeclared()), first, {1e25, 0}, {1e14, 0}, 1e14)));
}

TEST(EitherProduct, KnowsNothingWhereTheDivisorMayVanish) {
  EXPECT_FALSE(decided(either_product(single(undeclared()), of_quotient(1, 1, 1), {1, 0}, {1, 0}, 0)));
}

}  // namespace
}  // namespace tally::oracle::either_product_test
