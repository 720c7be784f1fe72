#include <gtest/gtest.h>

#include <cmath>

#include "oracle/case/file/parts.hpp"

namespace tally::element_test {
namespace {

Json number(const char* text) { return Json::of_number(text); }
Json string(const char* text) { return Json::of_string(text); }

TEST(Element, ReadsHexadecimalFloats) {
  EXPECT_EQ(hexadecimal_value("0x1.8p+0"), 1.5);
  EXPECT_EQ(hexadecimal_value("-0x1p-3"), -0.125);
  EXPECT_EQ(hexadecimal_value("+0X.8P1"), 1.0);
  EXPECT_EQ(hexadecimal_value("0x18.p0"), 24.0);
  EXPECT_EQ(hexadecimal_value("0x1p-1074"), 0x1p-1074);
  EXPECT_EQ(hexadecimal_value("0x00000000000000000000000000001.00000000000000000000000000000p0"), 1.0);
  EXPECT_TRUE(std::signbit(hexadecimal_value("-0x0p+0").value()));
}

TEST(Element, RefusesOtherTextAsHexadecimal) {
  for (const char* text :
       {"", "0x", "0xp0", "0x.p0", "0x1", "0x1.8", "1.5", "0x1p", "0x1p+", "0x1p+-1", "0x1p0 ", " 0x1p0", "0x1.8.0p0",
        "inf", "nan", "0x1p99999999999", "0x1p1024", "0x1p-1075", "0x1.00000000000001p0"})
    EXPECT_EQ(hexadecimal_value(text), std::nullopt) << text;
}

TEST(Element, WritesHexadecimalThatReadsBack) {
  EXPECT_EQ(hexadecimal(1.5), "0x1.8p+0");
  EXPECT_EQ(hexadecimal(-0.0), "-0x0p+0");
  EXPECT_EQ(hexadecimal(0x1p-149), "0x1p-149");
  for (const double value : {3.0, -0x1.fffffep127, 0x1.234p-20})
    EXPECT_EQ(hexadecimal_value(hexadecimal(value)), value);
}

TEST(Element, RefusesWhatTheFormatDoesNotHoldExactly) {
  EXPECT_EQ(exact_bits(Dtype::fp32, number("0.5")), 0x3f000000u);
  EXPECT_EQ(exact_bits(Dtype::fp32, number("0.1")), std::nullopt);
  EXPECT_EQ(exact_bits(Dtype::fp32, number("0.100000001490116119384765625")), 0x3dcccccdu);
  EXPECT_EQ(exact_bits(Dtype::fp32, number("0.1000000014901161193847656250000001")), std::nullopt);
  EXPECT_EQ(exact_bits(Dtype::fp16, string("0x1.004p+0")), 0x3c01u);
  EXPECT_EQ(exact_bits(Dtype::fp16, string("0x1.002p+0")), std::nullopt);
  EXPECT_EQ(exact_bits(Dtype::bf16, string("0x1.02p+0")), 0x3f81u);
  EXPECT_EQ(exact_bits(Dtype::bf16, string("0x1.01p+0")), std::nullopt);
  EXPECT_EQ(exact_bits(Dtype::fp16, number("65536")), std::nullopt);
  EXPECT_EQ(exact_bits(Dtype::fp16, string("0x1p-24")), 1u);
  EXPECT_EQ(exact_bits(Dtype::fp16, string("0x1p-25")), std::nullopt);
}

TEST(Element, ReadsIntegersExactly) {
  EXPECT_EQ(exact_bits(Dtype::i64, number("-1")), ~std::uint64_t{0});
  EXPECT_EQ(exact_bits(Dtype::i64, number("9007199254740993")), 9007199254740993u);
  EXPECT_EQ(exact_bits(Dtype::i64, string("0x3p+0")), 3u);
  EXPECT_EQ(exact_bits(Dtype::i64, string("0x1p-1")), std::nullopt);
  EXPECT_EQ(exact_bits(Dtype::u8, number("256")), std::nullopt);
  EXPECT_EQ(exact_bits(Dtype::u8, number("-1")), std::nullopt);
}

TEST(Element, RefusesOtherJson) {
  for (const Json& json : {Json{}, Json::of_boolean(true), Json::array(), Json::object(), string("0.5")})
    EXPECT_EQ(exact_bits(Dtype::fp32, json), std::nullopt);
}

}  // namespace
}  // namespace tally::element_test
