// What a call chooses beside its product: parts of k and the format they meet in, on the host.
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <vector>

#include "kernels/device/gemm/blas.hpp"
#include "kernels/device/half.hpp"

namespace tally::gemm_choices_test {
namespace {

using Kind = GemmOrder::Kind;

struct Halves {
  std::vector<half> a, b;
  explicit Halves(std::size_t k) {
    std::mt19937_64 random(3);
    std::uniform_int_distribution<int> digits(-2047, 2047);
    for (std::size_t i = 0; i < k; ++i) {
      a.push_back(from_float<half>(static_cast<float>(digits(random)) / 64));
      b.push_back(from_float<half>(static_cast<float>(digits(random)) / 1024));
    }
  }

  /// fl16 of the products [begin, end), summed in fp32.
  float operator()(std::size_t begin, std::size_t end, GemmChoices choices, Dtype result, Kind kind) const {
    Stream stream(device(ExecutorKind::host));
    half narrow{};
    float wide = 0;
    gemm(stream,
         {.m = 1,
          .n = 1,
          .k = static_cast<std::int64_t>(end - begin),
          .a = &a[begin],
          .b = &b[begin],
          .c = result == Dtype::fp16 ? static_cast<void*>(&narrow) : &wide,
          .operands = Dtype::fp16,
          .result = result,
          .choices = choices},
         {kind, 0});
    return result == Dtype::fp16 ? to_float(narrow) : wide;
  }
};

float in_half(float value) { return to_float(from_float<half>(value)); }

TEST(GemmChoices, SumPartsOfKApartInTheAccumulator) {
  const Halves operands(37);
  for (const Kind kind : {Kind::sequential_fma, Kind::tensor_core_a100}) {
    float expected = operands(0, 37 / 3, {}, Dtype::fp32, kind);
    expected += operands(37 / 3, 2 * 37 / 3, {}, Dtype::fp32, kind);
    expected += operands(2 * 37 / 3, 37, {}, Dtype::fp32, kind);
    EXPECT_EQ(operands(0, 37, {.splits = 3}, Dtype::fp32, kind), expected) << to_string({kind, 0});
  }
  EXPECT_EQ(operands(0, 37, {.splits = 1}, Dtype::fp32, Kind::sequential_fma),
            operands(0, 37, {}, Dtype::fp32, Kind::sequential_fma));
}

TEST(GemmChoices, LetPartsMeetInTheResult) {
  const Halves operands(200);
  const Kind kind = Kind::tensor_core_h100;
  int differing = 0;
  for (std::size_t k = 20; k <= 200; k += 2) {
    float expected = in_half(operands(0, k / 2, {}, Dtype::fp32, kind));
    expected = in_half(expected + in_half(operands(k / 2, k, {}, Dtype::fp32, kind)));
    EXPECT_EQ(operands(0, k, {.reduced_reduction = true, .splits = 2}, Dtype::fp16, kind), expected) << k;
    differing += operands(0, k, {.splits = 2}, Dtype::fp16, kind) != expected;
  }
  EXPECT_GT(differing, 0) << "no rounding in between shows";
}

TEST(GemmChoices, HaveAtMostAsManyPartsAsProducts) {
  const Halves operands(3);
  EXPECT_EQ(operands(0, 3, {.splits = 9}, Dtype::fp32, Kind::sequential_fma),
            operands(0, 3, {.splits = 3}, Dtype::fp32, Kind::sequential_fma));
}

TEST(GemmChoices, ThatTheHostCannotFollowAreRefused) {
  const Halves operands(4);
  for (const GemmChoices& refused :
       {GemmChoices{.algorithm = 0}, GemmChoices{.algorithm = -2}, GemmChoices{.splits = -1},
        GemmChoices{.workspace = -1}, GemmChoices{.math = GemmChoices::Math::tf32}}) {
    EXPECT_THROW(operands(0, 4, refused, Dtype::fp32, Kind::sequential_fma), std::invalid_argument);
  }
}

}  // namespace
}  // namespace tally::gemm_choices_test
