// The exact lane catches every fault of too few bits, in every storage format where it can show.
#include <gtest/gtest.h>

#include "properties/faults/fault.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::exact_lane_test {
namespace {

Plan exact_plan(Dtype storage, std::uint64_t seed) {
  Plan plan;
  plan.precision.storage = storage;
  plan.seed = seed;
  plan.outputs = 1 + static_cast<std::int64_t>(seed % 4);
  exact_arithmetic(plan);
  return plan;
}

const Law& exact_lane() { return *find_law("exact_lane"); }

constexpr Dtype formats[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

TEST(ExactLane, HoldsForTheShippedKernelsInEveryFormat) {
  for (const Dtype storage : formats) {
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
      const Outcome outcome = exact_lane().holds(case_of(exact_plan(storage, seed)), {});
      EXPECT_EQ(outcome.status, Status::pass) << name_of(storage) << " " << seed << ": " << outcome.message;
    }
  }
}

/// Whether bits differ, the lane's own verdict: not the lenses', which share the law.
bool caught_by_its_bits(const char* fault, Dtype storage, std::uint64_t seed) {
  RunOptions subject;
  subject.stages = &find_fault(fault)->stages();
  const Outcome outcome = exact_lane().holds(case_of(exact_plan(storage, seed)), subject);
  for (const TensorCheck& check : outcome.checks) {
    if (check.lens == "bitwise" && check.status == Status::fail) return true;
  }
  return false;
}

TEST(ExactLane, CatchesEveryFaultOfTooFewBitsInEachCancellingCase) {
  for (const char* fault : {"half-gemm-accumulator", "half-accumulator", "low-precision-accumulator", "lost-atomic-add",
                            "divided-by-k-minus-1", "tf32-silently-on"}) {
    for (const Dtype storage : formats) {
      if (std::string(fault) == "tf32-silently-on" && storage != Dtype::fp32) continue;  // 16 bits fit TF32
      for (std::uint64_t seed = 1; seed <= 11; seed += 2) {
        EXPECT_TRUE(caught_by_its_bits(fault, storage, seed)) << fault << " " << name_of(storage) << " " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace tally::exact_lane_test
