// Every row of the formats' table, and two rows of 8-bit formats that are not in it.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "oracle/case/tensors/tensor.hpp"
#include "oracle/tolerance/format.hpp"

namespace tally::formats_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Of the Open Compute Project's 8-bit formats (OFP8, 2023); the Dtype stands for nothing.
constexpr FormatRow e4m3{Dtype::u8, "e4m3", "F8_E4M3", 1, 4, -6, 8, false, Overflow::to_nan};
constexpr FormatRow e5m2{Dtype::u8, "e5m2", "F8_E5M2", 1, 3, -14, 15, true, Overflow::to_largest};

std::vector<FormatRow> float_rows() {
  std::vector<FormatRow> rows{e4m3, e5m2};
  for (const FormatRow& row : format_rows)
    if (row.is_float()) rows.push_back(row);
  return rows;
}

/// Calls `use` with finite encodings without a sign, the next one finite too: all of them up to 16 bits.
template <class Use>
void for_each_pair(const FormatRow& row, Use use) {
  const std::uint64_t step = row.bytes <= 2 ? 1 : 65'521;
  for (std::uint64_t bits = 0; bits < row.largest_bits(); bits += step) use(bits);
}

TEST(Formats, StandInTheOrderOfDtypeUnderNamesOfTheirOwn) {
  std::set<std::string_view> names, safetensors;
  for (std::size_t i = 0; i < format_rows.size(); ++i) {
    const FormatRow& row = format_rows[i];
    EXPECT_EQ(row.dtype, static_cast<Dtype>(i));
    EXPECT_EQ(dtype_of(row.name), row.dtype);
    EXPECT_EQ(name_of(row.dtype), row.name);
    EXPECT_EQ(size_of(row.dtype), static_cast<std::size_t>(row.bytes));
    EXPECT_TRUE(names.insert(row.name).second && safetensors.insert(row.safetensors).second) << row.name;
    EXPECT_TRUE(row.is_float() || !(row.uses.storage || row.uses.compute || row.uses.accumulate || row.uses.master));
  }
  EXPECT_EQ(dtype_names().size(), format_rows.size());
  EXPECT_EQ(dtype_of("fp64"), std::nullopt);
}

TEST(Formats, AreListedByUseInTheOrderThatSeedsDependOn) {
  const std::vector<std::string> storage = names_of(storage_formats());
  ASSERT_GE(storage.size(), 3u);
  EXPECT_EQ(std::vector(storage.begin(), storage.begin() + 3), (std::vector<std::string>{"fp32", "fp16", "bf16"}));
  EXPECT_EQ(names_of(formats_for(&FormatUses::compute)), (std::vector<std::string>{"fp32", "fp16"}));
}

TEST(Formats, HoldTheNumbersThatTheirRowsSay) {
  for (const FormatRow& row : float_rows()) {
    EXPECT_EQ(float_value_of(row, 1), row.smallest_subnormal()) << row.name;
    EXPECT_EQ(float_value_of(row, std::uint64_t{1} << (row.p - 1)), row.smallest_normal()) << row.name;
    EXPECT_EQ(float_value_of(row, row.largest_bits()), row.largest()) << row.name;
    EXPECT_EQ(float_bits_of(row, 1 + std::ldexp(1, 1 - row.p)), float_bits_of(row, 1) + 1) << row.name;
    EXPECT_TRUE(std::isnan(float_value_of(row, row.quiet_nan()))) << row.name;
    EXPECT_TRUE(std::isnan(float_value_of(row, row.all_ones()))) << row.name;
    if (row.has_infinities) {
      EXPECT_EQ(float_value_of(row, row.infinity()), infinity) << row.name;
    }
  }
  EXPECT_EQ(e4m3.largest(), 448);
  EXPECT_EQ(e4m3.smallest_subnormal(), 0x1p-9);
  EXPECT_EQ(e5m2.largest(), 57344);
  EXPECT_EQ(e5m2.smallest_subnormal(), 0x1p-16);
}

TEST(Formats, KeepEveryEncodingOfANumberThroughItsValue) {
  for (const FormatRow& row : float_rows()) {
    for_each_pair(row, [&](std::uint64_t bits) {
      const double value = float_value_of(row, bits);
      ASSERT_EQ(float_bits_of(row, value), bits) << row.name;
      ASSERT_EQ(float_bits_of(row, -value), bits | row.sign_bit()) << row.name;
      ASSERT_EQ(float_value_of(row, bits | row.sign_bit()), -value) << row.name;
    });
  }
}

TEST(Formats, RoundToNearestEvenBetweenNeighboursOneUnitApart) {
  for (const FormatRow& row : float_rows()) {
    for_each_pair(row, [&](std::uint64_t bits) {
      const double below = float_value_of(row, bits), above = float_value_of(row, bits + 1);
      const double unit =
          below < row.smallest_normal() ? row.smallest_subnormal() : std::ldexp(1, std::ilogb(below) - row.p + 1);
      ASSERT_EQ(above - below, unit) << row.name;
      const double middle = below + unit / 2;
      ASSERT_EQ(float_bits_of(row, middle), bits + (bits & 1)) << row.name;
      ASSERT_EQ(float_bits_of(row, std::nextafter(middle, 0)), bits) << row.name;
      ASSERT_EQ(float_bits_of(row, std::nextafter(middle, infinity)), bits + 1) << row.name;
    });
  }
}

TEST(Formats, OverflowBeyondHalfAUnitAboveTheLargestAsTheirRowsSay) {
  for (const FormatRow& row : float_rows()) {
    const double end = row.largest() + std::ldexp(1, row.emax - row.p);
    EXPECT_EQ(float_bits_of(row, std::nextafter(end, 0)), row.largest_bits()) << row.name;
    for (const double beyond : {std::nextafter(end, infinity), 0x1p1000, infinity}) {
      EXPECT_EQ(float_bits_of(row, beyond), row.overflow_bits()) << row.name;
      EXPECT_EQ(float_bits_of(row, -beyond), row.overflow_bits() | row.sign_bit()) << row.name;
    }
  }
  EXPECT_EQ(e4m3.overflow_bits(), 0x7fu);
  EXPECT_EQ(e5m2.overflow_bits(), 0x7bu);
}

TEST(Formats, AreTheSameToTheBounds) {
  std::size_t compared = 0;
  for (const FormatRow& row : format_rows) {
    if (!row.is_float()) continue;
    const oracle::Format format = oracle::format_of(row.dtype);
    EXPECT_EQ(format.unit_roundoff(), std::ldexp(1, -row.p)) << row.name;
    EXPECT_EQ(format.underflow(), row.smallest_subnormal() / 2) << row.name;
    EXPECT_EQ(format.overflow_threshold(), row.largest() + std::ldexp(1, row.emax - row.p)) << row.name;
    ++compared;
  }
  EXPECT_GT(compared, 0u);
}

TEST(Formats, NameANarrowerOneByItsBits) {
  EXPECT_EQ(next_narrower(24), 11);
  EXPECT_EQ(next_narrower(11), 8);
  EXPECT_EQ(next_narrower(8), 4);
}

TEST(Formats, ThatAreMissingAreNamedWithThePlace) {
  const std::string text = unsupported_format(Dtype::bf16, "tolerance").what();
  EXPECT_NE(text.find("formats_test.cpp:"), std::string::npos) << text;
  EXPECT_NE(text.find(": no tolerance for bf16"), std::string::npos) << text;
  EXPECT_THROW(float_bits_of(Dtype::i64, 1), std::logic_error);
}

}  // namespace
}  // namespace tally::formats_test
