// Weight gradients that their product adds to the buffer: what exists, what is tapped, what it saves.
#include "kernels/linear/weight_gradient.hpp"

#include <gtest/gtest.h>

#include "kernels/training_step/run/cost.hpp"
#include "kernels/training_step/stages.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::weight_gradient_test {
namespace {

Case added(Case c) {
  c.execution.kernels["linear.weight_gradient"] = "into_buffer";
  return c;
}

Case of_formats(Dtype storage, Dtype accumulate) {
  Case c = small_case();
  c.precision.storage = storage;
  c.precision.accumulate = accumulate;
  c.tensors.clear();
  fill_tensors(c);
  return c;
}

TEST(WeightGradient, IsNotMadeWhereItsProductAddsIt) {
  const Trace trace = run(added(small_case()));
  for (const std::string place : {"w0/m0/", "w0/m1/", "w1/m0/", "w1/m1/"}) {
    for (const std::string weight : {"fc1.weight", "fc2.weight"}) {
      EXPECT_EQ(trace.find(place + "backward/d." + weight), nullptr);
      EXPECT_EQ(trace.find(place + "accumulate/in.d." + weight), nullptr);
      EXPECT_NE(trace.find(place + "accumulate/in.buffer." + weight), nullptr);
      EXPECT_NE(trace.find(place + "accumulate/buffer." + weight), nullptr);
    }
    EXPECT_NE(trace.find(place + "backward/d.fc1.bias"), nullptr);
  }
  EXPECT_EQ(trace.groups, (std::vector<StageGroup>{{"backward", "accumulate"}}));
  EXPECT_EQ(trace.claims.kernels.at("linear.weight_gradient").algorithm, "into_buffer");
  EXPECT_FALSE(run(small_case()).claims.kernels.contains("linear.weight_gradient"));
}

/// fp32 throughout: the separate gradient is stored exactly and added by the same one rounding.
TEST(WeightGradient, LeavesTheSeparateAdditionsBitsWhereNothingIsRoundedInBetween) {
  const Trace separate = run(small_case()), together = run(added(small_case()));
  ASSERT_FALSE(together.taps().empty());
  for (const Tap& tap : together.taps()) {
    const Tensor* other = separate.find(tap.name.text());
    ASSERT_NE(other, nullptr) << tap.name.text();
    EXPECT_TRUE(*other == tap.value) << tap.name.text();
  }
}

TEST(WeightGradient, LosesNothingToTheStorageFormatOnItsWay) {
  Case c = of_formats(Dtype::bf16, Dtype::fp32);
  const Trace separate = run(c), together = run(added(c));
  const std::string buffer = "w0/m0/accumulate/buffer.fc2.weight";
  EXPECT_FALSE(*separate.find(buffer) == *together.find(buffer));
  Tensor narrowed = *together.find(buffer), gradient(Dtype::bf16, narrowed.shape);
  for (std::size_t i = 0; i < narrowed.elements(); ++i) gradient.set(i, narrowed.value(i));
  EXPECT_TRUE(gradient == *separate.find("w0/m0/backward/d.fc2.weight"));
}

TEST(WeightGradient, NeedsABufferThatIsAProductsResult) {
  const auto adds = [](const Case& c, const RunOptions& options = {}) {
    return run(added(c), options).claims.kernels.contains("linear.weight_gradient");
  };
  EXPECT_TRUE(adds(of_formats(Dtype::fp16, Dtype::fp16)));
  EXPECT_FALSE(adds(of_formats(Dtype::fp16, Dtype::bf16)));
  EXPECT_FALSE(adds(of_formats(Dtype::fp32, Dtype::fp16)));
  Case half = of_formats(Dtype::fp16, Dtype::fp32);
  EXPECT_TRUE(adds(half));
  half.precision.compute = Dtype::fp16;
  EXPECT_FALSE(adds(half));
  Case compensated = small_case();
  compensated.execution.kernels["accumulate"] = "kahan";
  EXPECT_FALSE(adds(compensated));
  Case single = small_case();
  single.windows = {{5}, {3}};
  EXPECT_FALSE(adds(single, {.accumulate = false}));
}

TEST(WeightGradient, StandsBackFromAReplacedStageThatReadsIt) {
  Stages stages = shipped_stages();
  stages.accumulate = [](tally::Run& run) { stage::accumulate(run); };
  EXPECT_FALSE(run(added(small_case()), {.stages = &stages}).claims.kernels.contains("linear.weight_gradient"));
  Stages product = shipped_stages();
  product.gemm = [](tally::Run& run, const GemmCall& call, const GemmOrder& order) { stage::gemm(run, call, order); };
  EXPECT_FALSE(run(added(small_case()), {.stages = &product}).claims.kernels.contains("linear.weight_gradient"));
  product.variants["linear.weight_gradient"] = "into_buffer";
  EXPECT_TRUE(run(small_case(), {.stages = &product}).claims.kernels.contains("linear.weight_gradient"));
  Stages other = shipped_stages();
  other.norm = [](tally::Run& run) { stage::norm(run); };
  EXPECT_TRUE(run(added(small_case()), {.stages = &other}).claims.kernels.contains("linear.weight_gradient"));
}

TEST(WeightGradient, TakesNoMemoryOfItsOwn) {
  const auto gradients = [](const Case& c) { return memory_of(c, {}).of("gradients"); };
  const std::size_t weights = (5 * 4 + 4 * 3) * sizeof(float);
  EXPECT_LE(gradients(added(small_case())) + weights, gradients(small_case()));
}

}  // namespace
}  // namespace tally::weight_gradient_test
