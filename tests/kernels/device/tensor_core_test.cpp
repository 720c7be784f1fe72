// The models of tensor cores against the same definition in integers of any length: every number is a whole multiple of
// 2^-600, so that nothing is ever rounded but where the definition says so.
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/device/gemm/gemm_block.hpp"
#include "kernels/device/half.hpp"

namespace tally::tensor_core_test {
namespace {

using Kind = GemmOrder::Kind;
using boost::multiprecision::cpp_int;

constexpr int scale = 600;

cpp_int exactly(double x) {
  int exponent = 0;
  const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  const int shift = exponent - 53 + scale;
  EXPECT_GE(shift, 0);
  return cpp_int(digits) << static_cast<unsigned>(shift);
}

/// To a multiple of 2^unit, toward zero: cpp_int divides so.
cpp_int truncated(const cpp_int& x, int unit) {
  const cpp_int quantum = cpp_int(1) << static_cast<unsigned>(unit + scale);
  return x / quantum * quantum;
}

cpp_int to_nearest_even(const cpp_int& x, int unit) {
  const cpp_int quantum = cpp_int(1) << static_cast<unsigned>(unit + scale), down = truncated(x, unit);
  const cpp_int twice = abs(x - down) * 2;
  const bool odd = (down / quantum) % 2 != 0;
  return twice > quantum || (twice == quantum && odd) ? cpp_int(down + (x < 0 ? -quantum : quantum)) : down;
}

int exponent_of(const cpp_int& x) { return static_cast<int>(msb(abs(x))) - scale; }
int exponent_of(float x, int least) { return std::max(std::ilogb(x), least); }

/// What each generation's block is, from the published models, not from the code under test.
struct Model {
  Kind kind;
  std::size_t terms, terms_of_tf32;
  int fraction_bits;
};
constexpr Model models[] = {
    {Kind::tensor_core_v100, 4, 0, 23}, {Kind::tensor_core_a100, 8, 4, 24}, {Kind::tensor_core_h100, 16, 8, 25}};

struct Operands {
  std::string name;
  int bits, least;  // significant bits; exponent of the smallest normal
  bool tf32 = false;
};
const Operands in_half{"fp16", 11, -14}, in_bf16{"bf16", 8, -126}, in_tf32{"tf32", 11, -126, true};

/// c + sum a b of one block, in the accumulator's format.
cpp_int block(const Model& model, const Operands& format, bool to_half, const std::vector<float>& a,
              const std::vector<float>& b, std::size_t first, std::size_t last, const cpp_int& c) {
  int largest = to_half ? -21 : -133;
  if (c != 0) largest = std::max({largest, exponent_of(c), to_half ? -14 : -126});
  for (std::size_t i = first; i < last; ++i) {
    if (a[i] != 0 && b[i] != 0)
      largest = std::max(largest, exponent_of(a[i], format.least) + exponent_of(b[i], format.least));
  }
  const int unit = largest - model.fraction_bits;
  cpp_int sum = truncated(c, unit);
  for (std::size_t i = first; i < last; ++i)
    sum += truncated(exactly(static_cast<double>(a[i]) * static_cast<double>(b[i])), unit);
  if (sum == 0) return 0;
  if (to_half) return to_nearest_even(sum, std::max(exponent_of(sum) - 10, -24));
  return truncated(sum, std::max(exponent_of(sum) - 23, -149));
}

cpp_int dot(const Model& model, const Operands& format, bool to_half, const std::vector<float>& a,
            const std::vector<float>& b) {
  const std::size_t terms = format.tf32 ? model.terms_of_tf32 : model.terms;
  cpp_int sum = 0;
  for (std::size_t i = 0; i < a.size(); i += terms)
    sum = block(model, format, to_half, a, b, i, std::min(i + terms, a.size()), sum);
  return sum;
}

template <class S>
std::vector<S> in_storage(const std::vector<float>& values) {
  std::vector<S> stored;
  for (const float each : values) stored.push_back(from_float<S>(each));
  return stored;
}

/// The product under test, one element in the accumulator's own format.
template <class S>
float product(const Model& model, const Operands& format, bool to_half, const std::vector<float>& a,
              const std::vector<float>& b) {
  Stream stream(device(ExecutorKind::host));
  const auto left = in_storage<S>(a), right = in_storage<S>(b);
  const Dtype storage = format.tf32 ? Dtype::fp32 : format.name == "fp16" ? Dtype::fp16 : Dtype::bf16;
  float wide = -1;
  half narrow = from_float<half>(-1);
  GemmCall call{.m = 1, .n = 1, .k = static_cast<std::int64_t>(a.size()), .a = left.data(), .b = right.data()};
  call.c = to_half ? static_cast<void*>(&narrow) : &wide;
  call.operands = storage;
  call.result = to_half ? Dtype::fp16 : Dtype::fp32;
  call.compute = to_half ? Dtype::fp16 : Dtype::fp32;
  call.tf32 = format.tf32;
  gemm(stream, call, {model.kind, 0});
  return to_half ? to_float(narrow) : wide;
}

float product(const Model& model, const Operands& format, bool to_half, const std::vector<float>& a,
              const std::vector<float>& b) {
  if (format.tf32) return product<float>(model, format, to_half, a, b);
  return format.name == "fp16" ? product<half>(model, format, to_half, a, b)
                               : product<bfloat16>(model, format, to_half, a, b);
}

/// Numbers of the operands' format with exponents in [low, high]; below the format's normal numbers, subnormal ones.
std::vector<float> drawn(const Operands& format, std::size_t count, int low, int high, std::mt19937_64& random) {
  std::uniform_int_distribution<int> exponent(low, high), fraction(1 << (format.bits - 1), (1 << format.bits) - 1);
  std::vector<float> all;
  for (std::size_t i = 0; i < count; ++i) {
    const int of = exponent(random), lost = std::max(format.least - of, 0);
    const int digits = fraction(random) >> std::min(lost, format.bits);
    all.push_back(static_cast<float>(std::ldexp(random() % 2 == 0 ? digits : -digits, of + lost - format.bits + 1)));
  }
  return all;
}

struct Pattern {
  std::string name;
  std::vector<float> a, b;
};

std::vector<Pattern> patterns(const Operands& format, std::size_t k, std::mt19937_64& random) {
  const auto take = [&](int low, int high) { return drawn(format, k, low, high, random); };
  std::vector<Pattern> all{{"alike", take(-1, 1), take(-1, 1)},
                           {"far apart", take(-12, 6), take(-12, 6)},
                           {"subnormal factors", take(format.least - 9, format.least + 1), take(-3, 14)},
                           {"subnormal products", take(format.least - 9, format.least), take(format.least, -3)}};
  Pattern cancelling{"cancelling", take(-2, 6), take(-2, 6)};
  for (std::size_t i = 1; i < k; i += 2) {
    cancelling.a[i] = -cancelling.a[i - 1];
    cancelling.b[i] = cancelling.b[i - 1];
  }
  cancelling.a[k - 1] = cancelling.b[k - 1] = static_cast<float>(std::ldexp(1, -11));
  Pattern outlier{"one among many tiny", take(-13, -11), take(-13, -11)};
  outlier.a[random() % k] = 8;
  all.push_back(cancelling);
  all.push_back(outlier);
  return all;
}

void expect_equal(const Model& model, const Operands& format, bool to_half) {
  std::mt19937_64 random(17);
  std::size_t odd = 0;
  for (const std::size_t k : {1, 3, 4, 7, 8, 16, 17, 33, 64, 100}) {
    for (int repeat = 0; repeat < 12; ++repeat) {
      for (const Pattern& pattern : patterns(format, k, random)) {
        const cpp_int expected = dot(model, format, to_half, pattern.a, pattern.b);
        const float got = product(model, format, to_half, pattern.a, pattern.b);
        ASSERT_TRUE(std::isfinite(got));
        ASSERT_EQ(exactly(static_cast<double>(got)), expected)
            << to_string({model.kind, 0}) << " " << format.name << " " << pattern.name << " k " << k;
        cpp_int exact = 0;
        for (std::size_t i = 0; i < k; ++i)
          exact += exactly(static_cast<double>(pattern.a[i]) * static_cast<double>(pattern.b[i]));
        odd += exact != expected;
      }
    }
  }
  EXPECT_GT(odd, 100u) << "hardly anything was rounded";
}

TEST(TensorCore, IsItsModelBitForBit) {
  for (const Model& model : models) {
    for (const Operands& format : {in_half, in_bf16}) expect_equal(model, format, false);
    if (model.terms_of_tf32 != 0) expect_equal(model, in_tf32, false);
  }
}

TEST(TensorCore, RoundsToNearestEvenInAHalfAccumulator) {
  for (const Model& model : models) expect_equal(model, in_half, true);
}

/// One product of 1 and fifteen of 2^-25: what a block keeps of them tells the generations apart.
TEST(TensorCore, AnswersTheProbeThatTellsGenerationsApart) {
  std::vector<float> a(16, 0x1p-12f), b(16, 0x1p-13f);
  a[0] = b[0] = 1;
  const auto bits = [&](const Model& model) {
    return std::bit_cast<std::uint32_t>(product(model, in_half, false, a, b));
  };
  EXPECT_EQ(bits(models[0]), 0x3f800000u);
  EXPECT_EQ(bits(models[1]), 0x3f800000u);
  EXPECT_EQ(bits(models[2]), 0x3f800003u);
}

TEST(TensorCore, DropsTheBitsOfAnOperandBelowTf32) {
  const std::vector<float> a{1 + 0x1p-11f + 0x1p-20f}, one{1.0f};
  EXPECT_EQ(product(models[2], in_tf32, false, a, one), 1.0f);
}

TEST(TensorCore, FollowsIeeeArithmeticWhereABlockIsNotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const Model& model : models) {
    EXPECT_EQ(product(model, in_bf16, false, {1, inf, 2, 3, 5, 1}, {1, 1, 1, 1, 1, 1}), inf);
    EXPECT_TRUE(std::isnan(product(model, in_bf16, false, {1, inf, 2, 3, 5, 1}, {1, 0, 1, 1, 1, 1})));
    EXPECT_TRUE(std::isnan(product(model, in_bf16, false, {inf, 1, 2, 3, 5, -inf}, {1, 1, 1, 1, 1, 1})));
    EXPECT_EQ(product(model, in_half, true, {60000, 60000}, {1, 1}), inf);
    EXPECT_EQ(product(model, in_bf16, false, {-0x1p127f, -0x1p127f}, {1, 1}), -inf);
  }
}

/// 65504 and half a unit more is a tie that goes to infinity; a little less stays.
TEST(TensorCore, OverflowsAHalfAccumulatorWhereNearestRoundingDoes) {
  EXPECT_EQ(product(models[2], in_half, true, {65504, 16}, {1, 1}), std::numeric_limits<float>::infinity());
  EXPECT_EQ(product(models[2], in_half, true, {65504, 15}, {1, 1}), 65504);
}

TEST(TensorCore, RefusesOperandsThatTheGenerationHasNoInstructionFor) {
  EXPECT_THROW(product(models[0], in_tf32, false, {1}, {1}), std::invalid_argument);
  Stream stream(device(ExecutorKind::host));
  const float one = 1;
  float c = 0;
  const GemmCall call{.m = 1, .n = 1, .k = 1, .a = &one, .b = &one, .c = &c};
  EXPECT_THROW(gemm(stream, call, {Kind::tensor_core_h100, 0}), std::invalid_argument);
}

}  // namespace
}  // namespace tally::tensor_core_test
