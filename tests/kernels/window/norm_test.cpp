#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/window/arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::norm_test {
namespace {

double norm_of(const std::string& variant, NormKind kind, const std::vector<std::vector<double>>& tensors) {
  std::vector<DeviceTensor> held;
  std::vector<NormSource> sources;
  for (const auto& tensor : tensors) {
    held.push_back(on_device(tensor));
    sources.push_back({held.back().as<float>(), static_cast<std::int64_t>(tensor.size())});
  }
  const DeviceTensor partial = room(norm_chunks(sources)), norm = room(1);
  call("norm", NormArguments{kind, sources, partial.as<float>(), norm.as<float>()}, variant);
  return values_of(norm)[0];
}

class Norm : public OfEveryVariant {};

std::vector<double> ones(std::size_t n) { return std::vector<double>(n, 1.0); }

TEST_P(Norm, IsExactWhereEverySumIs) {
  EXPECT_EQ(norm_of(variant(), NormKind::two, {{3}, {4}}), 5);
  EXPECT_EQ(norm_of(variant(), NormKind::one, {{3, -1}, {-4}}), 8);
  EXPECT_EQ(norm_of(variant(), NormKind::squares, {{3}, {4}}), 25);
  EXPECT_EQ(norm_of(variant(), NormKind::infinity, {{3, -7}, {4}}), 7);
}

TEST_P(Norm, CountsEveryElementOnceAtWarpBlockAndChunkEdges) {
  for (const std::size_t n : {1, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 9000}) {
    EXPECT_EQ(norm_of(variant(), NormKind::one, {ones(n)}), static_cast<double>(n)) << n;
  }
  EXPECT_EQ(norm_of(variant(), NormKind::two, {ones(4096), ones(8192), ones(4096)}), 128);
}

TEST_P(Norm, SkipsEmptyTensorsAndSpansLaunches) {
  EXPECT_EQ(norm_of(variant(), NormKind::one, {{}, {}}), 0);
  std::vector<std::vector<double>> tensors;
  for (int i = 0; i < 60; ++i) tensors.push_back(i % 3 == 0 ? std::vector<double>{} : ones(2));
  EXPECT_EQ(norm_of(variant(), NormKind::one, tensors), 80);
}

TEST_P(Norm, LetsANaNWinWhereverItStands) {
  for (std::size_t at = 0; at < 300; at += 23) {
    std::vector<double> values = ones(300);
    values[at] = std::numeric_limits<double>::quiet_NaN();
    for (const NormKind kind : {NormKind::one, NormKind::two, NormKind::infinity}) {
      EXPECT_TRUE(std::isnan(norm_of(variant(), kind, {{2}, values}))) << at;
    }
  }
}

TEST_P(Norm, StaysWithinTheBoundOfAnyOrderOfAdditions) {
  const auto values = drawn(5000);
  long double squares = 0;
  for (const double value : values) squares += static_cast<long double>(value) * static_cast<long double>(value);
  // Squares: 1 rounding, sum: at most n - 1, root: halves what it is given and adds 1.
  const double n_u = 5000 * u;
  const double relative = n_u / (1 - n_u) / 2 + 2 * u;
  const auto exact = static_cast<double>(std::sqrt(squares));
  EXPECT_LE(std::fabs(norm_of(variant(), NormKind::two, {values}) - exact), relative * exact);
}

INSTANTIATE_TEST_SUITE_P(Variants, Norm, testing::ValuesIn(every_variant("norm")), variant_name);

}  // namespace
}  // namespace tally::norm_test
