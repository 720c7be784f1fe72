#include <gtest/gtest.h>

#include "oracle/exact/answer.hpp"
#include "properties/diagnosis/judged_capture.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::capture_gap_test {
namespace {

Case uneven(Normalisation normalisation) {
  Case c = normal_case(3);
  c.normalisation = normalisation;
  c.windows = {{1, 4}};
  return c;
}

TEST(CaptureGap, IsNotLookedForWhereNothingCanMakeOne) {
  const Case c = uneven(Normalisation::window_items);
  EXPECT_FALSE(may_have_gap(c));
  EXPECT_EQ(gap_of_capture(c).gradient, 0.0);
  EXPECT_EQ(gap_of_capture(c).sentence, "");
  Case one = uneven(Normalisation::mean_of_means);
  one.windows = {{one.windows[0][0]}};
  EXPECT_FALSE(may_have_gap(one));
}

TEST(CaptureGap, IsThatOfTheWholeCaseWithItsCause) {
  for (const Normalisation normalisation : {Normalisation::mean_of_means, Normalisation::sum}) {
    const Case c = uneven(normalisation);
    const CaptureGap gap = gap_of_capture(c);
    ASSERT_TRUE(gap.gradient);
    EXPECT_GT(*gap.gradient, 0);
    EXPECT_EQ(*gap.gradient, oracle::first_gradient_gap(c));
    EXPECT_NE(gap.sentence.find("normalisation " + std::string(name_of(normalisation))), std::string::npos);
    EXPECT_NE(gap.sentence.find("differs from the full batch's by"), std::string::npos) << gap.sentence;
  }
}

/// Micro-batches of two and three rows, of which one is ignored.
TEST(CaptureGap, IsNothingToSayOfWhereMicroBatchesHoldAsManyItems) {
  Case c = normal_case(3);
  c.normalisation = Normalisation::mean_of_means;
  const CaptureGap gap = gap_of_capture(c);
  EXPECT_TRUE(may_have_gap(c));
  EXPECT_EQ(gap.gradient, 0.0);
  EXPECT_EQ(gap.sentence, "");
}

TEST(CaptureGap, IsNotKnownOfLayersThatTheCaptureGivesAndOfALargeModel) {
  Case c = uneven(Normalisation::mean_of_means);
  c.model.layers[0].kind = "opaque";
  EXPECT_FALSE(gap_of_capture(c).gradient);
  EXPECT_NE(gap_of_capture(c).sentence.find("forward and backward are the capture's own"), std::string::npos);
  Case large = uneven(Normalisation::mean_of_means);
  large.tensors.at(parameters_of(large.model).front()) = Tensor(Dtype::fp32, {1 << 20});
  EXPECT_FALSE(gap_of_capture(large).gradient);
  EXPECT_NE(gap_of_capture(large).sentence.find("too large"), std::string::npos);
}

}  // namespace
}  // namespace tally::capture_gap_test
