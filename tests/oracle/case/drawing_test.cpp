#include "oracle/case/tensors/drawing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>

#include "oracle/case/io.hpp"

namespace tally::drawing_test {
namespace {

Tensor drawn(const std::string& family, Dtype dtype, std::uint64_t seed = 0x123456789abcdef,
             std::int64_t elements = 1000) {
  Tensor tensor(dtype, {elements});
  draw(tensor, {1, seed, family});
  return tensor;
}

/// Calls `check` with every value of a family in all float formats.
template <class Check>
void for_each_value(const std::string& family, Check check) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    const Tensor tensor = drawn(family, dtype);
    for (std::size_t i = 0; i < tensor.elements(); ++i) check(tensor.value(i));
  }
}

/// The known answers published with the generator.
TEST(Philox, AgreesWithItsAuthorsKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

/// SHA-256 of a thousand elements: these must never change, or old tokens give other bits.
TEST(Drawing, NumberOneIsFrozen) {
  struct Frozen {
    const char* family;
    Dtype dtype;
    const char* digest;
  };
  const Frozen frozen[] = {
      {"zeros", Dtype::fp32, "fc19b19971194257"},     {"zeros", Dtype::fp16, "2da42fb1d7bd8524"},
      {"zeros", Dtype::bf16, "2da42fb1d7bd8524"},     {"ones", Dtype::fp32, "9e504c05d5c0da9e"},
      {"ones", Dtype::fp16, "58d869fcd5c86978"},      {"ones", Dtype::bf16, "fedbacf004a65d69"},
      {"uniform", Dtype::fp32, "801f8ae0f9d93428"},   {"uniform", Dtype::fp16, "f71f47ea607b05b8"},
      {"uniform", Dtype::bf16, "154161b4a4c0fdba"},   {"positive", Dtype::fp32, "ed9068dbea8c839e"},
      {"positive", Dtype::fp16, "a37b7f8c3a845da1"},  {"positive", Dtype::bf16, "fddc3f33318785b6"},
      {"normal", Dtype::fp32, "39ad8fd47a8f5823"},    {"normal", Dtype::fp16, "629e6ee569509450"},
      {"normal", Dtype::bf16, "84d3d2f0fb18e636"},    {"he:64", Dtype::fp32, "d9903137d99a7a70"},
      {"he:64", Dtype::fp16, "840539827a9f53b8"},     {"he:64", Dtype::bf16, "ff0d8544772bec05"},
      {"dyadic:5", Dtype::fp32, "5139d7fd10922589"},  {"dyadic:5", Dtype::fp16, "0b6b85c3488dbcef"},
      {"dyadic:5", Dtype::bf16, "1419af07c31d398f"},  {"wide", Dtype::fp32, "30b66a59f91596fa"},
      {"wide", Dtype::fp16, "48a52300de794f9c"},      {"wide", Dtype::bf16, "0742ede807d9fc94"},
      {"variance", Dtype::fp32, "834f8af64bcd46d2"},  {"variance", Dtype::fp16, "66c7fc03e9cbb56b"},
      {"variance", Dtype::bf16, "78463882f54ef45d"},  {"tiny", Dtype::fp32, "ed2221ab0ca74914"},
      {"tiny", Dtype::fp16, "8dad11cc9af0dc0c"},      {"tiny", Dtype::bf16, "c9b8f95b510e7554"},
      {"classes:10", Dtype::i64, "24f5842153bae1e4"}, {"classes_ignored:10:25", Dtype::i64, "9e4ecdc18a256a2c"},
      {"counts:5", Dtype::i64, "cdbf681fa803e7e2"},   {"counts:200", Dtype::u8, "a13e6a0b5f2fc134"},
      {"mask:80", Dtype::u8, "fbb0f7f6fa082728"},     {"ones", Dtype::i64, "57df658ee4a5eac7"},
  };
  for (const auto& [family, dtype, digest] : frozen) {
    const Tensor tensor = drawn(family, dtype);
    const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    EXPECT_EQ(sha256(bytes).substr(0, 16), digest) << family << " " << name_of(dtype);
  }
}

TEST(Drawing, OfAnElementDoesNotDependOnTheShape) {
  const Tensor all = drawn("normal", Dtype::fp32), some = drawn("normal", Dtype::fp32, 0x123456789abcdef, 10);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(all.bits(i), some.bits(i));
}

TEST(Drawing, DependsOnSeedAndFamily) {
  EXPECT_FALSE(drawn("normal", Dtype::fp32, 1) == drawn("normal", Dtype::fp32, 2));
  EXPECT_FALSE(drawn("normal", Dtype::fp32, 1) == drawn("normal", Dtype::fp32, 1 + (std::uint64_t{1} << 32)));
  EXPECT_FALSE(drawn("classes:10", Dtype::i64) == drawn("classes_ignored:10:0", Dtype::i64));
}

TEST(Drawing, StaysInTheRangeOfItsFamily) {
  for_each_value("uniform", [](double v) { ASSERT_TRUE(v >= -1 && v < 1); });
  for_each_value("positive", [](double v) { ASSERT_TRUE(v >= 0.5 && v < 1.5); });
  for_each_value("normal", [](double v) { ASSERT_TRUE(std::fabs(v) <= 6); });
  for_each_value("wide", [](double v) { ASSERT_TRUE(std::fabs(v) >= 0x1p-12 && std::fabs(v) < 8); });
  for_each_value("variance", [](double v) { ASSERT_TRUE(v >= 0.25 && v < 2); });
  for_each_value("dyadic:5", [](double v) { ASSERT_TRUE(std::fabs(v) < 1 && v * 32 == std::trunc(v * 32)); });
  for_each_value("ones", [](double v) { ASSERT_EQ(v, 1); });
}

TEST(Drawing, OfTinyValuesReachesSubnormalsAndNormals) {
  int subnormal = 0, normal = 0;
  const Tensor tensor = drawn("tiny", Dtype::fp16);
  for (std::size_t i = 0; i < tensor.elements(); ++i) ++(std::fabs(tensor.value(i)) < 0x1p-14 ? subnormal : normal);
  EXPECT_GT(subnormal, 400);
  EXPECT_GT(normal, 400);
}

/// The sums are exact, so the sample's moments are: the mean of 10^5 values of variance 1 lies within five deviations
/// of 0, that is 5 / sqrt(10^5), and their second moment, of variance below 2, within 5 sqrt(2 / 10^5) of 1.
TEST(Drawing, OfNormalValuesHasMeanZeroAndVarianceOne) {
  constexpr std::int64_t count = 100'000;
  const Tensor tensor = drawn("normal", Dtype::fp32, 3, count);
  long double sum = 0, squares = 0;
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    const long double value = tensor.value(i);
    sum += value, squares += value * value;
  }
  EXPECT_LE(std::fabs(sum / count), 5 / std::sqrt(static_cast<long double>(count)));
  EXPECT_LE(std::fabs(squares / count - 1), 5 * std::sqrt(2 / static_cast<long double>(count)));
}

TEST(Drawing, ReachesEveryClassAndIgnoresTheShareAskedFor) {
  std::set<std::int64_t> seen;
  const Tensor classes = drawn("classes_ignored:7:0", Dtype::i64);
  for (std::size_t i = 0; i < classes.elements(); ++i) seen.insert(classes.integer(i));
  EXPECT_EQ(seen, (std::set<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));

  const Tensor ignored = drawn("classes_ignored:7:100", Dtype::i64), kept = drawn("mask:100", Dtype::u8);
  for (std::size_t i = 0; i < ignored.elements(); ++i) {
    ASSERT_EQ(ignored.integer(i), -100);
    ASSERT_EQ(kept.integer(i), 1);
  }
}

TEST(Drawing, RefusesUnknownFamiliesAndOtherFormats) {
  for (const char* family : {"", "cauchy", "normal:1", "he", "he:0", "he:-1", "he:x", "he:1:", "dyadic:17", "dyadic:0",
                             "classes:3", "uniform ", "zeros:"})
    EXPECT_THROW(drawn(family, Dtype::fp32), std::invalid_argument) << family;
  for (const char* family : {"normal", "classes:0", "classes", "classes_ignored:3:101", "classes_ignored:3", "mask:50"})
    EXPECT_THROW(drawn(family, Dtype::i64), std::invalid_argument) << family;
  EXPECT_THROW(drawn("counts:256", Dtype::u8), std::invalid_argument);
  EXPECT_THROW(drawn("classes:3", Dtype::u8), std::invalid_argument);
  Tensor tensor(Dtype::fp32, {1});
  EXPECT_THROW(draw(tensor, {2, 0, "zeros"}), std::invalid_argument);
  EXPECT_FALSE(tensor.drawing);
}

}  // namespace
}  // namespace tally::drawing_test
