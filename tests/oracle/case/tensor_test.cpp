#include "oracle/case/tensors/tensor.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace tally::tensor_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Tensor, HoldsZerosAtFirst) {
  const Tensor tensor(Dtype::fp16, {2, 3});

  EXPECT_EQ(tensor.elements(), 6u);
  EXPECT_EQ(tensor.bytes.size(), 12u);
  EXPECT_EQ(tensor.value(5), 0.0);
}

TEST(Tensor, OfEmptyShapeHasOneElement) { EXPECT_EQ(Tensor(Dtype::i64, {}).elements(), 1u); }

TEST(Tensor, RefusesSizesBeforeTakingMemory) {
  EXPECT_THROW(Tensor(Dtype::fp32, {1'000'000, 1'000'000}), std::length_error);
  EXPECT_THROW(Tensor(Dtype::u8, {std::int64_t{1} << 40, 2}), std::length_error);
  EXPECT_THROW(Tensor(Dtype::u8, {std::int64_t{1} << 62, std::int64_t{1} << 62}), std::length_error);
  EXPECT_THROW(Tensor(Dtype::u8, {-1}), std::length_error);
  EXPECT_THROW(Tensor(Dtype::u8, {0, std::int64_t{1} << 41}), std::length_error);
  EXPECT_EQ(elements_of({std::int64_t{1} << 40}), std::size_t{1} << 40);
}

TEST(Tensor, StoresLittleEndianBits) {
  Tensor tensor(Dtype::fp32, {1});
  tensor.set(0, 1.0);

  EXPECT_EQ(tensor.bits(0), 0x3f800000u);
  EXPECT_EQ(tensor.bytes[3], std::byte{0x3f});
  EXPECT_EQ(tensor.bytes[0], std::byte{0});
}

TEST(Tensor, StoresIntegersExactlyOrNotAtAll) {
  Tensor whole(Dtype::i64, {1});
  whole.set(0, -0x1p63);
  EXPECT_EQ(whole.integer(0), std::numeric_limits<std::int64_t>::min());
  EXPECT_THROW(whole.set(0, 0.5), std::range_error);
  EXPECT_THROW(whole.set(0, 0x1p63), std::range_error);
  EXPECT_THROW(whole.set(0, std::nan("")), std::range_error);

  Tensor byte(Dtype::u8, {1});
  byte.set(0, 255);
  EXPECT_EQ(byte.integer(0), 255);
  EXPECT_THROW(byte.set(0, 256), std::range_error);
}

TEST(Tensor, EqualityLooksAtBitsNotAtTheDrawing) {
  Tensor a(Dtype::fp32, {1}), b = a;
  b.drawing = Drawing{1, 7, "zeros"};
  EXPECT_EQ(a, b);

  b.set(0, -0.0);
  EXPECT_FALSE(a == b);
}

TEST(FloatBits, RoundTripEveryHalfAndEveryBfloat) {
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16})
    for (std::uint64_t bits = 0; bits < 0x10000; ++bits) {
      const double value = float_value_of(dtype, bits);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(float_value_of(dtype, float_bits_of(dtype, value))));
      else
        ASSERT_EQ(float_bits_of(dtype, value), bits);
    }
}

TEST(FloatBits, RoundToNearestEvenHalfwayBetweenNeighbours) {
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16, Dtype::fp32})
    for (std::uint64_t bits = 0; bits < 0x7000; ++bits) {
      const double below = float_value_of(dtype, bits), above = float_value_of(dtype, bits + 1);
      const double middle = (below + above) / 2;
      ASSERT_EQ(float_bits_of(dtype, middle), bits + (bits & 1));
      ASSERT_EQ(float_bits_of(dtype, std::nextafter(middle, 0)), bits);
      ASSERT_EQ(float_bits_of(dtype, std::nextafter(middle, infinity)), bits + 1);
    }
}

TEST(FloatBits, AgreeWithTheHardwareOnSingles) {
  std::uint64_t state = 1;
  for (int i = 0; i < 200'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double value = std::bit_cast<double>((state >> 12) | (0x380 + (state >> 56) % 0x90) << 52 | (state << 63));
    ASSERT_EQ(float_bits_of(Dtype::fp32, value), std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  }
}

TEST(FloatBits, OverflowFromHalfAUnitAboveTheLargest) {
  EXPECT_EQ(float_bits_of(Dtype::fp16, std::nextafter(65520.0, 0)), 0x7bffu);
  EXPECT_EQ(float_bits_of(Dtype::fp16, 65520), 0x7c00u);
  EXPECT_EQ(float_bits_of(Dtype::bf16, -0x1.ffp127), 0xff80u);
  EXPECT_EQ(float_bits_of(Dtype::fp32, 1e300), 0x7f800000u);
  EXPECT_EQ(float_bits_of(Dtype::fp32, -infinity), 0xff800000u);
}

}  // namespace
}  // namespace tally::tensor_test
