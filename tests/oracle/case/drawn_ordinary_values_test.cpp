// The families of drawings that ordinary networks start from hold what they promise, in every format.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <stdexcept>

#include "oracle/case/io.hpp"

namespace tally::drawn_ordinary_values_test {
namespace {

constexpr std::int64_t count = 600;

void for_each_format(const std::string& family, const std::function<void(const Tensor&)>& test) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    Tensor tensor(dtype, {count});
    draw(tensor, {1, 78, family});
    test(tensor);
  }
}

TEST(DrawnOrdinaryValues, OfAFanInLieWithinOneOverItsRootAndFillIt) {
  for_each_format("fan_in:16", [](const Tensor& tensor) {
    double least = 0, most = 0;
    for (std::size_t i = 0; i < tensor.elements(); ++i) {
      least = std::min(least, tensor.value(i)), most = std::max(most, tensor.value(i));
    }
    EXPECT_TRUE(least >= -0.25 && least < -0.2 && most <= 0.25 && most > 0.2) << least << " " << most;
  });
}

TEST(DrawnOrdinaryValues, OfTheUnitIntervalAreExactAndNotNegative) {
  for_each_format("unit", [](const Tensor& tensor) {
    std::set<std::uint64_t> seen;
    for (std::size_t i = 0; i < tensor.elements(); ++i) {
      ASSERT_TRUE(tensor.value(i) >= 0 && tensor.value(i) < 1);
      seen.insert(tensor.bits(i));
    }
    EXPECT_GT(seen.size(), 200u);
  });
}

TEST(DrawnOrdinaryValues, OfTwoKindsComeInTheShareAskedFor) {
  for_each_format("binary:25", [](const Tensor& tensor) {
    int ones = 0;
    for (std::size_t i = 0; i < tensor.elements(); ++i) {
      ASSERT_TRUE(tensor.value(i) == 0 || tensor.value(i) == 1);
      ones += tensor.value(i) == 1;
    }
    EXPECT_TRUE(ones > count / 6 && ones < count / 3) << ones;
  });
}

TEST(DrawnOrdinaryValues, OfOneHotRowsHoldOne1EachInEveryColumnNowAndThen) {
  static constexpr std::size_t columns = 6;
  for_each_format("one_hot:6", [](const Tensor& tensor) {
    std::set<std::size_t> seen;
    for (std::size_t row = 0; row < tensor.elements() / columns; ++row) {
      double sum = 0;
      for (std::size_t i = 0; i < columns; ++i) {
        sum += tensor.value(row * columns + i);
        if (tensor.value(row * columns + i) == 1) seen.insert(i);
      }
      ASSERT_EQ(sum, 1);
    }
    EXPECT_EQ(seen.size(), columns);
  });
}

TEST(DrawnOrdinaryValues, OfARatioAreOneNumber) {
  for_each_format("ratio:1:8", [](const Tensor& tensor) {
    for (std::size_t i = 0; i < tensor.elements(); ++i) ASSERT_EQ(tensor.value(i), 0.125);
  });
}

TEST(DrawnOrdinaryValues, RefuseArgumentsOutsideTheirRange) {
  Tensor tensor(Dtype::fp32, {2});
  for (const char* family : {"fan_in", "fan_in:0", "binary:101", "binary:0", "one_hot:0", "ratio:1", "ratio:1:0"}) {
    EXPECT_THROW(draw(tensor, {1, 78, family}), std::invalid_argument) << family;
  }
}

/// SHA-256 of a thousand elements: these must never change, or old tokens give other bits.
TEST(DrawnOrdinaryValues, AreFrozen) {
  struct Frozen {
    const char *family, *digest;
  };
  const Frozen frozen[] = {{"fan_in:64", "8ebce86d406c1997"},
                           {"unit", "2f8d4ab6455d9a7b"},
                           {"binary:50", "fc0d93e359c78312"},
                           {"one_hot:10", "e4f8876b2edddff2"},
                           {"ratio:1:100", "502c11e0d74d3ce7"}};
  for (const auto& [family, digest] : frozen) {
    Tensor tensor(Dtype::fp32, {1000});
    draw(tensor, {1, 0x123456789abcdef, family});
    const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    EXPECT_EQ(sha256(bytes).substr(0, 16), digest) << family;
  }
}

}  // namespace
}  // namespace tally::drawn_ordinary_values_test
