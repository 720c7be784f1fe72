#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "oracle/case/file/json.hpp"

namespace tally::decimal_test {
namespace {

TEST(Decimal, FollowsTheGrammarOfJson) {
  for (const char* text : {"0", "-0", "1", "10.5", "1e5", "1E+5", "1.25e-05", "123456789012345678901234567890"})
    EXPECT_TRUE(decimal_parts(text)) << text;
  for (const char* text : {"", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "1 ", "inf", "nan", "1e5.0", "--1"})
    EXPECT_FALSE(decimal_parts(text)) << text;
}

TEST(Decimal, KeepsExponentsWithinThreeHundred) {
  EXPECT_TRUE(decimal_parts("1e300"));
  EXPECT_TRUE(decimal_parts("1e-300"));
  EXPECT_TRUE(decimal_parts("9.99e000300"));
  EXPECT_FALSE(decimal_parts("1e301"));
  EXPECT_FALSE(decimal_parts("0.1e-300"));
  EXPECT_FALSE(decimal_parts("10e300"));
  EXPECT_FALSE(decimal_parts("1" + std::string(301, '0')));
  EXPECT_FALSE(decimal_parts("0." + std::string(300, '0') + "1"));
  EXPECT_FALSE(decimal_parts("0e399"));
  EXPECT_FALSE(decimal_parts("1e99999999999999999999"));
}

TEST(Decimal, ComparesExactly) {
  EXPECT_TRUE(compare_decimals("0.10", "1e-1") == 0);
  EXPECT_TRUE(compare_decimals("-0", "0.0") == 0);
  EXPECT_TRUE(compare_decimals("0.99999999999999999999999999999", "1") < 0);
  EXPECT_TRUE(compare_decimals("1.00000000000000000000000000001", "1") > 0);
  EXPECT_TRUE(compare_decimals("-2", "-1") < 0);
  EXPECT_TRUE(compare_decimals("-1e-300", "0") < 0);
  EXPECT_TRUE(compare_decimals("12", "9") > 0);
  EXPECT_TRUE(compare_decimals("0.12", "0.123") < 0);
  EXPECT_THROW(compare_decimals("x", "1"), std::logic_error);
}

TEST(Decimal, GivesTheNearestDouble) {
  EXPECT_EQ(nearest_double("0.1"), 0.1);
  EXPECT_EQ(nearest_double("1e-300"), 1e-300);
  EXPECT_TRUE(std::signbit(nearest_double("-0")));
}

TEST(Decimal, KnowsWhetherADoubleIsExactlyIt) {
  EXPECT_TRUE(equals(*decimal_parts("0.5"), 0.5));
  EXPECT_TRUE(equals(*decimal_parts("0.1000000000000000055511151231257827021181583404541015625"), 0.1));
  EXPECT_FALSE(equals(*decimal_parts("0.1"), 0.1));
  EXPECT_FALSE(equals(*decimal_parts("0.5000000000000000000000000000000000000000000001"), 0.5));
  EXPECT_TRUE(equals(*decimal_parts("-0"), 0.0));
  EXPECT_TRUE(equals(*decimal_parts("-12e1"), -120));
}

TEST(Decimal, ReadsIntegersHoweverTheyAreWritten) {
  EXPECT_EQ(exact_integer("1e3"), 1000);
  EXPECT_EQ(exact_integer("4.0"), 4);
  EXPECT_EQ(exact_integer("-0"), 0);
  EXPECT_EQ(exact_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(exact_integer("9223372036854775808"), std::nullopt);
  EXPECT_EQ(exact_integer("0.5"), std::nullopt);
  EXPECT_EQ(exact_integer("1e300"), std::nullopt);
}

}  // namespace
}  // namespace tally::decimal_test
