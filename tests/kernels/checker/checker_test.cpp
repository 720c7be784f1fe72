// The checker on small kernels: what is right stays unreported in every schedule, what is wrong is found in the first.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/device/executor/schedule.hpp"
#include "kernels/device/gemm/blas.hpp"
#include "tests/kernels/checker/device_faults.hpp"

namespace tally::checker_test {
namespace {

constexpr std::uint64_t schedules = 60;

class Checker : public testing::TestWithParam<DeviceFault> {
 protected:
  void SetUp() override {
    if (!built_with_checks()) GTEST_SKIP() << "built without the checked executor";
  }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_P(Checker, ReportsNothingOfARightKernelInAnySchedule) {
  const DeviceFaultRun plain = run_device_fault(GetParam(), true, ExecutorKind::host, 0);
  EXPECT_EQ(plain.finding, "");

  for (std::uint64_t seed = 0; seed <= schedules; ++seed) {
    const DeviceFaultRun checked = run_device_fault(GetParam(), true, ExecutorKind::checked, seed);
    EXPECT_EQ(checked.finding, "") << "schedule " << seed;
    EXPECT_EQ(checked.out, plain.out) << "schedule " << seed;
  }
}

TEST_P(Checker, FindsAWrongKernelInAnySchedule) {
  const std::vector<float> expected = run_device_fault(GetParam(), true, ExecutorKind::host, 0).out;
  for (std::uint64_t seed = 0; seed <= schedules; ++seed) {
    const DeviceFaultRun wrong = run_device_fault(GetParam(), false, ExecutorKind::checked, seed);
    if (GetParam().found_as.empty()) {
      EXPECT_NE(wrong.out, expected) << "schedule " << seed;
    } else {
      EXPECT_NE(wrong.finding, "") << "schedule " << seed;
    }
  }
}

TEST_P(Checker, NamesWhatTheThreadsDidAndWhere) {
  const std::string finding = run_device_fault(GetParam(), false, ExecutorKind::checked, 0).finding;
  if (GetParam().found_as.empty()) {  // its values tell, the checker has nothing to say
    EXPECT_EQ(finding, "");
    return;
  }

  EXPECT_TRUE(has(finding, GetParam().found_as)) << finding;
  EXPECT_TRUE(has(finding, "_faults.cu:")) << finding;
  if (GetParam().found_as.starts_with("RACE")) {
    EXPECT_TRUE(has(finding, ", written by thread (")) << finding;
  }
}

/// Until then every thread had kept to elements of its own, and the checker to short notes of that.
TEST(OwnElements, AreKnownWhenAnotherThreadTouchesThem) {
  if (!built_with_checks()) GTEST_SKIP() << "built without the checked executor";
  const DeviceFault fault{"device_fault.add_earlier", "", ""};
  const std::string finding = run_device_fault(fault, false, ExecutorKind::checked, 0).finding;
  EXPECT_TRUE(has(finding, "+204 by thread (9, 0, 0) at ")) << finding;
  EXPECT_TRUE(has(finding, ", written by thread (51, 0, 0) of another block at ")) << finding;
}

std::string name_of_fault(const testing::TestParamInfo<DeviceFault>& info) {
  return info.param.operation.substr(info.param.operation.find('.') + 1);
}

INSTANTIATE_TEST_SUITE_P(DeviceFaults, Checker, testing::ValuesIn(device_faults()), name_of_fault);

const DeviceFault shy{"device_fault.race_of_tickets", "a race in some orders alone",
                      "RACE (write after write) on buffer 'out'"};

/// The first drawn schedule in which the shy race shows, as a list.
std::vector<Preemption> failing_schedule() {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::vector<Preemption> recorded;
    if (!run_device_fault(shy, false, ExecutorKind::checked, seed, nullptr, &recorded).finding.empty()) return recorded;
  }
  return {};
}

std::string finding_under(const std::vector<Preemption>& schedule) {
  return run_device_fault(shy, false, ExecutorKind::checked, 0, &schedule).finding;
}

TEST(Schedules, ReplayWhatWasRecorded) {
  if (!built_with_checks()) GTEST_SKIP() << "built without the checked executor";

  EXPECT_EQ(finding_under({}), "");
  const std::vector<Preemption> recorded = failing_schedule();

  EXPECT_TRUE(has(finding_under(recorded), shy.found_as)) << finding_under(recorded);
  EXPECT_EQ(finding_under(recorded), finding_under(recorded));
}

TEST(Schedules, ShrinkToTheChoicesThatMatter) {
  if (!built_with_checks()) GTEST_SKIP() << "built without the checked executor";
  const std::vector<Preemption> recorded = failing_schedule();

  const auto few = executor::fewest_preemptions(
      recorded, 2000, [](const std::vector<Preemption>& some) { return !finding_under(some).empty(); });

  EXPECT_LE(few.size(), 2u);
  EXPECT_LT(few.size(), recorded.size());
  EXPECT_TRUE(has(finding_under(few), shy.found_as));
}

TEST(CheckedProduct, IsNoRaceWithItselfAtAnyLength) {
  if (!built_with_checks()) GTEST_SKIP() << "built without the checked executor";
  Device& on = device(ExecutorKind::checked);
  const Buffer one(on, "one", Dtype::fp32, 1), all(on, "all", Dtype::fp32, 100),
      product(on, "product", Dtype::fp32, 100);
  Stream stream(on);
  const std::vector<float> ones(100, 1.0f);
  on.write(all.data(), ones.data(), all.bytes());
  on.write(one.data(), ones.data(), one.bytes());
  for (std::int64_t m = 1; m <= 100; ++m) {
    EXPECT_NO_THROW(gemm(stream, {.m = m, .n = 1, .k = 1, .a = all.data(), .b = one.data(), .c = product.data()})) << m;
  }
}

}  // namespace
}  // namespace tally::checker_test
