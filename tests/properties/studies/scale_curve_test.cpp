#include "properties/lab/sweeps/scale_curve.hpp"

#include <gtest/gtest.h>

namespace tally::scale_curve_test {
namespace {

const SweepProblem problem{"planted", {}, {}, 16, 10, {}};

/// What one run at 2^exponent found when the exact magnitudes lie in [least, most].
Numbers planted(int exponent, double least, double most) {
  const double scale = static_cast<double>(std::uint64_t{1} << exponent);
  StoredGradients found;
  found.elements = 100;
  found.below = scale * least < 0x1p-14;
  found.non_finite = found.skipped = scale * most >= 65504;
  found.least = least, found.most = most;
  return found.numbers();
}

ScaleCurve curve_of(double least, double most) {
  std::vector<ScalePart> parts;
  std::vector<Numbers> answers;
  for (int exponent = 0; exponent <= 24; ++exponent) {
    parts.push_back({&problem, exponent, 1});
    answers.push_back(planted(exponent, least, most));
  }
  return scale_curves(parts, answers).at(0);
}

TEST(ScaleCurve, DerivesTheWindowThatItMeasures) {
  const ScaleCurve curve = curve_of(0x1p-20, 0.75);  // 2^-14 / 2^-20 = 2^6 is inside; 2^16 * 0.75 is, 2^17 * 0.75 not

  EXPECT_EQ(curve.derived.from, 0x1p6);
  EXPECT_EQ(curve.derived.to, 0x1p16);
  EXPECT_EQ(curve.measured.from, curve.derived.from);
  EXPECT_EQ(curve.measured.to, curve.derived.to);
  EXPECT_TRUE(curve.derived.holds(0x1p16));
  EXPECT_FALSE(curve.derived.holds(0x1p17));
}

TEST(ScaleCurve, LeavesOutAScaleThatReachesTheLargestNumber) {
  const ScaleCurve curve = curve_of(0x1p-14, 65504 * 0x1p-4);  // 2^4 * most is 65504 itself: S < 65504 / most

  EXPECT_EQ(curve.derived.from, 1);
  EXPECT_EQ(curve.derived.to, 0x1p3);
}

TEST(ScaleCurve, HasNoWindowWhereTheMagnitudesSpanMoreThanTheFormat) {
  const ScaleCurve curve = curve_of(0x1p-40, 1);

  EXPECT_TRUE(curve.derived.empty());
  EXPECT_TRUE(curve.measured.empty());
  EXPECT_FALSE(curve.derived.holds(1));
}

}  // namespace
}  // namespace tally::scale_curve_test
