#include "kernels/device/probes.hpp"

#include <gtest/gtest.h>

namespace tally {
namespace {

/// The host's GEMM is documented (kernels/device/blas.hpp): the probes must find just that.
TEST(Probes, FindWhatTheHostsGemmDocuments) {
  const GemmTraits traits = probe_gemm(device(ExecutorKind::host));

  EXPECT_TRUE(traits.keeps_subnormals);
  EXPECT_EQ(traits.tf32_rounding, "nearest");
  EXPECT_TRUE(traits.sums_to_nearest);
  EXPECT_EQ(traits.fraction_bits, 0);
  EXPECT_TRUE(traits.half_accumulator_stops);
  EXPECT_TRUE(traits.repeats);
  EXPECT_TRUE(traits.scales);
}

TEST(Probes, SayWhatTheBoundsTakeFromTheAnswers) {
  GemmTraits traits;
  traits.tf32_rounding = "truncate";
  traits.fraction_bits = 25;
  const std::vector<Probe> probes = probes_of(traits);

  ASSERT_EQ(probes.size(), 6u);
  EXPECT_EQ(probes[0].answer, "read as zero");
  EXPECT_EQ(probes[1].answer, "rounded: truncate");
  EXPECT_EQ(probes[2].consequence, "aligned to 25 fraction bits");
  EXPECT_EQ(probes[4].answer, "OTHER BITS");
}

}  // namespace
}  // namespace tally
