#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally::numbers_test {
namespace {

TEST(Numbers, AreGroupedByThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(5184), "5,184");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(counted(1, "case"), "1 case");
  EXPECT_EQ(counted(0, "case"), "0 cases");
}

TEST(Numbers, ShowThreeDigitsAndSayWhatIsNotFinite) {
  EXPECT_EQ(significant(0.41349), "0.413");
  EXPECT_EQ(significant(3.875), "3.88");
  EXPECT_EQ(significant(1.2345e-7), "1.23e-07");
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(significant(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(significant(-std::nan("")), "nan");
  EXPECT_EQ(percent(0.9638), "96.38 %");
  EXPECT_EQ(hexadecimal_text(-0.375), "-0x1.8p-2");
  EXPECT_EQ(coordinate(-0.04), "0");
  EXPECT_EQ(coordinate(12.25), "12.2");
}

TEST(Numbers, NeverReadAsOneUnlessTheyAreOne) {
  EXPECT_EQ(significant(1), "1");
  EXPECT_EQ(significant(0.9994), "0.999");
  EXPECT_EQ(significant(0.9996), "0.9996");
  EXPECT_EQ(significant(0.99996), "0.99996");
  EXPECT_EQ(significant(-0.99996), "-0.99996");
  EXPECT_EQ(significant(1.0004), "1.0004");
  EXPECT_EQ(significant(1 - 0x1p-40), "0.999999");
  EXPECT_EQ(significant(std::nextafter(1.0, 0.0)), "0.999999");
  EXPECT_EQ(significant(std::nextafter(1.0, 2.0)), "1.000001");
  for (double off = 0.25; off >= 0x1p-52; off /= 1.01) {
    EXPECT_LT(std::stod(significant(1 - off)), 1) << off;
    EXPECT_GT(std::stod(significant(1 + off)), 1) << off;
  }
}

TEST(Numbers, OfAChanceEndWhereNothingIsLeft) {
  EXPECT_EQ(power_of_ten(-3.94), "1e-3.9");
  EXPECT_EQ(power_of_ten(-1000), "1e" + std::to_string(-1000));
  const std::string nothing_left = "< 1e" + std::to_string(-1000);
  EXPECT_EQ(power_of_ten(-11645060501545846.0), nothing_left);
  EXPECT_EQ(power_of_ten(-std::numeric_limits<double>::infinity()), nothing_left);
}

TEST(Columns, AlignNumbersAndCutLongCells) {
  EXPECT_EQ(columns({{"Name", ">n"}, {"a", "5"}, {"\u03A3", "1,000"}}),
            "  Name      n\n  a         5\n  \u03A3     1,000\n");
  EXPECT_EQ(columns({{"x"}, {"abcdef"}}, 4), "  x\n  abc\u2026\n");
}

}  // namespace
}  // namespace tally::numbers_test
