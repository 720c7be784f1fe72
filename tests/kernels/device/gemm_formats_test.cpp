// The host GEMM with an fp16 accumulator and with TF32 operands, against roundings in long double, which holds the sum
// of a product of two halves and a half exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "kernels/device/gemm/blas.hpp"
#include "kernels/device/half.hpp"

namespace tally::gemm_formats_test {
namespace {

using Kind = GemmOrder::Kind;

/// To nearest even with `bits` significant bits, none below `least`; infinite from `limit` on.
long double rounded(long double x, int bits, long double least, long double limit) {
  if (x == 0 || !std::isfinite(x)) return x;
  const long double unit = std::max(std::ldexp(1.0L, std::ilogb(x) - bits + 1), least);
  const long double nearest = std::nearbyint(x / unit) * unit;
  return std::fabs(nearest) < limit ? nearest : std::copysign(INFINITY, x);
}
long double in_half(long double x) { return rounded(x, 11, 0x1p-24L, 0x1p16L); }
long double in_tf32(long double x) { return rounded(x, 11, 0x1p-136L, 0x1p128L); }

long double fused(const std::vector<float>& a, const std::vector<float>& b, std::size_t begin, std::size_t end) {
  long double sum = 0;
  for (std::size_t p = begin; p < end; ++p) sum = in_half(static_cast<long double>(a[p]) * b[p] + sum);
  return sum;
}

long double halves(const std::vector<float>& a, const std::vector<float>& b, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return fused(a, b, begin, end);
  const std::size_t middle = begin + (end - begin + 1) / 2;
  return in_half(halves(a, b, begin, middle) + halves(a, b, middle, end));
}

long double dot(const std::vector<float>& a, const std::vector<float>& b, const GemmOrder& order) {
  const std::size_t k = a.size(), parameter = static_cast<std::size_t>(order.parameter);
  if (order.kind == Kind::sequential_fma) return fused(a, b, 0, k);
  if (order.kind == Kind::pairwise) return halves(a, b, 0, k);
  long double sum = 0;
  if (order.kind == Kind::sequential_mul_add) {
    for (std::size_t p = 0; p < k; ++p) sum = in_half(sum + fused(a, b, p, p + 1));
    return sum;
  }
  const std::size_t parts = order.kind == Kind::split_k ? parameter : (k + parameter - 1) / parameter;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto at = [&](std::size_t i) {
      return order.kind == Kind::split_k ? i * k / parts : std::min(i * parameter, k);
    };
    const long double partial = fused(a, b, at(part), at(part + 1));
    sum = part == 0 ? partial : in_half(sum + partial);
  }
  return sum;
}

/// Halves from 2^-20 to 8: sums meet subnormals, ties and far smaller products.
std::vector<half> halves_drawn(std::mt19937_64& random, std::size_t count) {
  std::vector<half> all;
  std::uniform_int_distribution<int> exponent(-20, 2), fraction(1024, 2047), sign(0, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto magnitude = static_cast<float>(std::ldexp(fraction(random), exponent(random) - 10));
    all.push_back(from_float<half>(sign(random) == 0 ? magnitude : -magnitude));
  }
  return all;
}

std::vector<float> floats(const std::vector<half>& from) {
  std::vector<float> all;
  for (const half each : from) all.push_back(to_float(each));
  return all;
}

TEST(HostGemm, RoundsEveryProductAndSumOnceToHalf) {
  Stream stream(device(ExecutorKind::host));
  std::mt19937_64 random(1);
  for (const GemmOrder order : {GemmOrder{Kind::sequential_fma, 0},
                                {Kind::sequential_mul_add, 0},
                                {Kind::pairwise, 0},
                                {Kind::chunked, 5},
                                {Kind::split_k, 3}}) {
    for (int tried = 0; tried < 400; ++tried) {
      const auto a = halves_drawn(random, 17), b = halves_drawn(random, 17);
      half c{};
      gemm(stream,
           {.m = 1,
            .n = 1,
            .k = 17,
            .a = a.data(),
            .b = b.data(),
            .c = &c,
            .operands = Dtype::fp16,
            .result = Dtype::fp16,
            .compute = Dtype::fp16},
           order);
      ASSERT_EQ(to_float(c), static_cast<float>(dot(floats(a), floats(b), order))) << to_string(order);
    }
  }
}

/// 1 + 2^-11 + 2^-24 lies just above half way from 1 to the next half; rounded to fp32 first, it would lie half way.
TEST(HostGemm, RoundsAFusedSumOnlyOnce) {
  Stream stream(device(ExecutorKind::host));
  const std::vector<half> a{from_float<half>(0x1p-24f), from_float<half>(683.0f / 1024)};
  const std::vector<half> b{from_float<half>(1.0f), from_float<half>(1.5f)};
  half c{};
  gemm(stream, {.m = 1,
                .n = 1,
                .k = 2,
                .a = a.data(),
                .b = b.data(),
                .c = &c,
                .operands = Dtype::fp16,
                .result = Dtype::fp16,
                .compute = Dtype::fp16});
  EXPECT_EQ(to_float(c), 1 + 0x1p-10f);
}

TEST(HostGemm, OverflowsInAHalfAccumulator) {
  Stream stream(device(ExecutorKind::host));
  const std::vector<half> a(40, from_float<half>(64.0f)), b(40, from_float<half>(32.0f));
  half wide{}, narrow{};
  GemmCall call{.m = 1,
                .n = 1,
                .k = 20,
                .a = a.data(),
                .b = b.data(),
                .c = &narrow,
                .operands = Dtype::fp16,
                .result = Dtype::fp16,
                .compute = Dtype::fp16};
  gemm(stream, call);
  EXPECT_EQ(to_float(narrow), 40960);
  call.k = 40;
  gemm(stream, call);
  EXPECT_TRUE(std::isinf(to_float(narrow)));
  call.compute = Dtype::fp32;
  call.c = &wide;
  gemm(stream, call);
  EXPECT_TRUE(std::isinf(to_float(wide)));  // stored in fp16
}

TEST(HostGemm, RoundsOperandsToTf32) {
  Stream stream(device(ExecutorKind::host));
  std::mt19937_64 random(2);
  std::normal_distribution<float> normal;
  std::vector<float> a, b, a_rounded, b_rounded;
  for (int i = 0; i < 33 * 9; ++i) {
    const float wide = normal(random), scaled = i % 5 == 0 ? 0x1p-130f * normal(random) : normal(random);
    a.push_back(wide);
    b.push_back(i == 7 ? 1 + 0x1p-11f : scaled);  // a tie
    a_rounded.push_back(static_cast<float>(in_tf32(a.back())));
    b_rounded.push_back(static_cast<float>(in_tf32(b.back())));
  }
  ASSERT_NE(a, a_rounded);
  std::vector<float> c(81), expected(81);
  GemmCall call{
      .transpose_b = true, .m = 9, .n = 9, .k = 33, .a = a.data(), .b = b.data(), .c = c.data(), .tf32 = true};
  gemm(stream, call);
  call.tf32 = false;
  call.a = a_rounded.data();
  call.b = b_rounded.data();
  call.c = expected.data();
  gemm(stream, call);
  EXPECT_EQ(c, expected);
}

TEST(Gemm, RefusesFormatsThatDoNotGoTogether) {
  Stream stream(device(ExecutorKind::host));
  float zero[1] = {};
  const auto refused = [&](GemmCall call) {
    call.m = call.n = call.k = 1;
    call.a = call.b = call.c = zero;
    EXPECT_THROW(gemm(stream, call), std::invalid_argument);
  };
  refused({.compute = Dtype::fp16});
  refused({.operands = Dtype::fp16, .result = Dtype::fp32, .compute = Dtype::fp16});
  refused({.compute = Dtype::bf16});
  refused({.operands = Dtype::bf16, .result = Dtype::bf16, .tf32 = true});
}

}  // namespace
}  // namespace tally::gemm_formats_test
