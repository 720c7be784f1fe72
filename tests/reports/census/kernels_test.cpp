#include <gtest/gtest.h>

#include "reports/census/unusual.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::kernels_test {
namespace {

TEST(Kernels, AreCountedByOperationVariantAndFormat) {
  Results results = samples::passing();
  results.triggers = {{"accumulate/grid_stride, fp32, fp32: one block, full", "accumulate", "path", "", 3, "0"},
                      {"accumulate/grid_stride, fp16, fp32: one block, full", "accumulate", "path", "", 0, "0"}};
  results.cases[1].operations[0].standing.format = "fp16";
  results.cases[2].operations[0].standing.shapes = "4x3 9";
  const Usual usual(results);
  const auto kernels = kernel_results(results, usual);
  ASSERT_EQ(kernels.size(), 3u);
  const auto found = std::find_if(kernels.begin(), kernels.end(), [](const KernelResult& k) {
    return k.name() == "accumulate/grid_stride" && k.format == "fp32";
  });
  ASSERT_NE(found, kernels.end());
  EXPECT_EQ(found->cases, results.cases.size() - 1);
  EXPECT_EQ(found->shapes, 3u);  // 4x3, 7, 9
  EXPECT_EQ(found->paths, 2u);
  EXPECT_EQ(found->paths_seen, 1u);
  EXPECT_FALSE(found->one_rounding());
  ASSERT_NE(found->worst, nullptr);
  EXPECT_EQ(found->worst->operations[0].standing.excess, found->excess);
}

TEST(Kernels, WithNoRoomForASecondRoundingAreToldApart) {
  Results results = samples::passing();
  for (CaseRecord& c : results.cases) c.operations[0].standing.roundings = 1.001;
  const Usual usual(results);
  const auto kernels = kernel_results(results, usual);
  ASSERT_FALSE(kernels.empty());
  for (const KernelResult& kernel : kernels) EXPECT_TRUE(kernel.one_rounding()) << kernel.name();
}

}  // namespace
}  // namespace tally::kernels_test
