// A run with one kernel replaced by another registered variant, and what it says of kernels that misbehave.
#include <gtest/gtest.h>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/training_step/stages.hpp"
#include "kernels/window/arguments.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::variants_test {
namespace {

__global__ void add_one_too_many(const float* gradient, float* buffer, std::int64_t elements) {
  for (std::int64_t i = 0; i <= elements; ++i) buffer[i] = i < elements ? __fadd_rn(buffer[i], gradient[i]) : 1.0f;
}

void past_the_end(Stream& stream, const AccumulateArguments& a) {
  launch<add_one_too_many>(stream, {1, 1}, static_cast<const float*>(a.gradient), static_cast<float*>(a.buffer),
                           a.elements);
}

__global__ void wait_apart() {
  if (threadIdx.x < 7) __syncthreads();
  __syncthreads();
}

void divergent(Stream& stream, const AccumulateArguments&) { launch<wait_apart>(stream, {1, 32}); }

const RegisterKernel registered_past("accumulate", {.variant = "test_past_the_end"}, past_the_end,
                                     KernelUse::when_named);
const RegisterKernel registered_divergent("accumulate", {.variant = "test_divergent"}, divergent,
                                          KernelUse::when_named);

Trace run_with(const std::string& operation, const std::string& variant) {
  Stages stages = shipped_stages();
  stages.variants[operation] = variant;
  return run(small_case(), {.stages = &stages});
}

TEST(Variants, ReplaceOneKernelAndItsClaim) {
  EXPECT_EQ(run_with("accumulate", "test_past_the_end").claims.kernels.at("accumulate").variant, "test_past_the_end");
  EXPECT_EQ(run(small_case()).claims.kernels.at("accumulate").variant, "grid_stride");
}

TEST(Variants, ThatWritePastTheEndBreakAGuardZone) {
  const Trace trace = run_with("accumulate", "test_past_the_end");
  ASSERT_EQ(trace.violations.size(), 4u);  // one buffer a parameter
  EXPECT_NE(trace.violations[0].find("buffer of fc1.weight"), std::string::npos) << trace.violations[0];
  EXPECT_TRUE(run(small_case()).violations.empty());
}

TEST(Variants, ThatBreakARuleOfTheMachineEndTheRunWithAFinding) {
  const Trace trace = run_with("accumulate", "test_divergent");
  ASSERT_EQ(trace.violations.size(), 1u);
  EXPECT_NE(trace.violations[0].find("variants_test.cpp"), std::string::npos) << trace.violations[0];
  EXPECT_EQ(trace.find("w0/m1/forward/fc1.y"), nullptr);
  EXPECT_NE(trace.find("w0/m0/backward/d.fc1.weight"), nullptr);
}

TEST(Variants, OfUnknownNamesAreErrors) {
  EXPECT_THROW(run_with("accumulate", "none"), std::logic_error);
  EXPECT_THROW(run_with("guess", "grid_stride"), std::logic_error);
}

}  // namespace
}  // namespace tally::variants_test
