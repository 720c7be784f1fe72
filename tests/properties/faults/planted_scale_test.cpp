#include <gtest/gtest.h>

#include "properties/faults/planted_change.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::planted_scale_test {
namespace {

RunOptions planted(double theta) {
  RunOptions options;
  options.stages = &with_scaled_weight_gradients(theta);
  return options;
}

TEST(PlantedScale, ChangesNoBitAtZero) {
  const Case c = mlp(1);
  const Trace plain = run(c), scaled = run(c, planted(0));

  ASSERT_EQ(plain.taps().size(), scaled.taps().size());
  for (const Tap& tap : plain.taps()) EXPECT_EQ(tap.value.bytes, scaled.find(tap.name.text())->bytes);
}

TEST(PlantedScale, IsNamedAsAFactorWhereNoBoundSeesIt) {
  Case c = mlp(1);
  c.windows = {{16, 16}};
  const double theta = 0x1p-21;
  const auto checks = local_lens(c, run(c, planted(theta)));
  const TensorCheck* first = first_failure(checks);

  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->failure, FailureClass::precision);
  EXPECT_EQ(first->stage, "backward");
  EXPECT_EQ(first->spread.test, "along itself");
  EXPECT_GT(first->spread.share, theta / 2);
  EXPECT_LT(first->spread.share, theta * 2);
}

}  // namespace
}  // namespace tally::planted_scale_test
