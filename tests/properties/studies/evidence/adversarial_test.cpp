#include "properties/lab/evidence/adversarial.hpp"

#include <gtest/gtest.h>

#include "oracle/case/io.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lab/evidence/evidence_run.hpp"

namespace tally::adversarial_test {
namespace {

const Dtype storages[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

TEST(HardCases, AreValidInEveryPrecision) {
  ASSERT_FALSE(hard_families().empty());
  for (const HardFamily& family : hard_families()) {
    for (const Dtype storage : storages) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const auto errors = validate(family.make(storage, seed));
        EXPECT_TRUE(errors.empty()) << family.name << ": " << errors.front().path << " " << errors.front().found;
      }
    }
  }
}

TEST(HardCases, RaiseNoAlarm) {
  std::size_t held_runs = 0;
  for (const HardFamily& family : hard_families()) {
    if (family.name == "256 micro-batches") continue;  // the study runs it
    for (const Dtype storage : storages) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const Case c = family.make(storage, seed);
        const EvidenceRun held = evidence_run(c, {});
        const TensorCheck* failure = first_failure(held.checks);
        EXPECT_EQ(failure, nullptr) << family.name << ", " << name_of(storage) << ", seed " << seed << ": "
                                    << failure->lens << " " << failure->tap;
        ++held_runs;
      }
    }
  }
  EXPECT_GT(held_runs, 0u);
}

TEST(HardCases, HoldWhatTheirNamesSay) {
  const auto smallest_normal = 0x1p-126;
  const Case subnormal = hard_families()[5].make(Dtype::fp32, 3);
  const Tensor& x = subnormal.tensors.at("x");
  for (std::size_t i = 0; i < x.elements(); ++i) EXPECT_LT(std::abs(x.value(i)), 2 * smallest_normal);

  const Case far = hard_families()[1].make(Dtype::fp32, 3);
  EXPECT_EQ(far.tensors.at("fc1.bias").value(0), 1e6);

  const Case ignored = hard_families()[7].make(Dtype::fp32, 3);
  for (std::int64_t row = first_row(ignored, 1); row < first_row(ignored, 1, 1); ++row) {
    EXPECT_EQ(item_weight(ignored, row).to_double(), 0);
  }
}

}  // namespace
}  // namespace tally::adversarial_test
