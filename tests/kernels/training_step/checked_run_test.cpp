// The shipped kernels under the checker, in small training steps: no findings, and the host's bits.
#include <gtest/gtest.h>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/training_step/run/run.hpp"
#include "kernels/training_step/stages.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::checked_run_test {
namespace {

/// Wider than a warp, with more rows than one, and tails in both.
Case wide_case(Dtype storage) {
  Case c = case_with_everything();
  c.precision.storage = storage;
  c.model.input = 37;
  c.model.layers.front() = layer_of("linear", "fc1", {{"out", std::int64_t{41}}});
  c.windows = {{33, 5}, {40}};
  c.tensors.clear();
  fill_tensors(c);
  return c;
}

void expect_same_bits(const Trace& host, const Trace& checked, const std::string& what) {
  ASSERT_EQ(host.taps().size(), checked.taps().size()) << what;
  for (const Tap& tap : checked.taps()) {
    const Tensor* other = host.find(tap.name.text());
    ASSERT_NE(other, nullptr) << what << ": " << tap.name.text();
    EXPECT_TRUE(*other == tap.value) << what << ": " << tap.name.text();
  }
}

/// Calls `use(stages, name)` for the shipped kernels, and for every other variant of an operation in its place.
template <class Use>
void for_each_variant(const Case& c, Use use) {
  use(shipped_stages(), "the shipped kernels");
  for (const auto& [operation, claim] : run(c).claims.kernels) {
    for (const std::string& variant : shipped_variants(operation, ExecutorKind::host)) {
      if (variant == claim.variant || variant.starts_with("test_")) continue;
      Stages stages = shipped_stages();
      stages.variants[operation] = variant;
      use(stages, operation + " " + variant);
    }
  }
}

TEST(CheckedRun, FindsNothingAndLeavesTheHostsBits) {
  if (!built_with_checks()) GTEST_SKIP() << "built without the checked executor";
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    const Case c = wide_case(storage);
    for_each_variant(c, [&](const Stages& stages, const std::string& what) {
      const Trace checked = run(c, {.executor = ExecutorKind::checked, .stages = &stages});
      EXPECT_TRUE(checked.violations.empty()) << what << ": " << checked.violations.front();
      expect_same_bits(run(c, {.stages = &stages}), checked, what);
    });
  }
}

TEST(CheckedRun, FindsNothingInDrawnSchedules) {
  if (!built_with_checks()) GTEST_SKIP() << "built without the checked executor";
  const Case c = wide_case(Dtype::fp16);
  for_each_variant(c, [&](const Stages& stages, const std::string& what) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Trace checked = run(c, {.executor = ExecutorKind::checked, .schedule_seed = seed, .stages = &stages});
      EXPECT_TRUE(checked.violations.empty()) << what << ", " << seed << ": " << checked.violations.front();
    }
  });
}

}  // namespace
}  // namespace tally::checked_run_test
