// Runs whose buffers are compensated, whose weight gradients are added by their product, and whose products run on
// modelled tensor cores: each is held to its own claim by every lens, and what breaks it is found.
#include "kernels/training_step/stages.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/two_runs.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::buffer_variants_test {
namespace {

using Kernels = std::map<std::string, std::string>;
const Dtype formats[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

Case with(Case c, const Kernels& kernels) {
  c.execution.kernels = kernels;
  return c;
}

std::vector<TensorCheck> judged(const Case& c, const Trace& trace) {
  return hard_lenses(c, trace, Grouping::declared).checks;
}

/// Every tensor passes, is there, and is judged once by each lens at each stage.
void expect_clean(const Case& c, const std::string& what) {
  const auto checks = judged(c, run(c));
  std::set<std::vector<std::string>> once;
  for (const TensorCheck& check : checks)
    EXPECT_TRUE(once.insert({check.lens, check.stage, check.tap}).second) << what << " " << check.tap;
  EXPECT_FALSE(checks.empty()) << what;
  EXPECT_EQ(first_failure(checks), nullptr) << what << " " << told(first_failure(checks));
  EXPECT_EQ(count(checks, Status::not_run), 0u) << what << " " << missing(checks);
}

const Kernels into_buffer{{"linear.weight_gradient", "into_buffer"}}, kahan{{"accumulate", "kahan"}};

TEST(BufferVariants, PassEveryLensInEveryFormat) {
  for (const Kernels& kernels : {into_buffer, kahan}) {
    for (const Dtype storage : formats) {
      for (const Dtype accumulate : formats) {
        for (Case c : {mlp(5, storage), normal_everything(5, storage)}) {
          c.precision.accumulate = accumulate;
          c.execution.order = 3;
          expect_clean(with(c, kernels), kernels.begin()->second);
        }
      }
    }
  }
}

TEST(BufferVariants, PassInEveryRecipe) {
  for (const auto& [name, c] : recipes()) {
    expect_clean(with(c, into_buffer), name);
    expect_clean(with(c, kahan), name);
  }
}

TEST(TensorCoreRuns, PassEveryLensOfEveryGeneration) {
  for (const char* variant : {"tensor_core_v100", "tensor_core_a100", "tensor_core_h100"}) {
    for (const Dtype storage : formats) {
      for (const std::string splits : {"1", "3"}) {
        for (const std::string reduction : {"accumulator", "result"}) {
          for (Case c : {mlp(6, storage), normal_everything(6, storage)}) {
            c.precision.tf32 = storage == Dtype::fp32;
            c = with(c, {{"gemm", variant}, {"gemm.split_k", splits}, {"gemm.reduction", reduction}});
            expect_clean(c, variant);
            c.execution.kernels["linear.weight_gradient"] = "into_buffer";
            expect_clean(c, std::string(variant) + " into the buffer");
          }
        }
      }
    }
    Case half = mlp(6, Dtype::fp16);
    half.precision.compute = half.precision.accumulate = Dtype::fp16;
    expect_clean(with(half, {{"gemm", variant}, {"linear.weight_gradient", "into_buffer"}}), "fp16 accumulator");
  }
}

/// The trace with one number of a tap moved by its own size.
Trace tampered(const Trace& trace, const std::string& name) {
  Trace other;
  other.claims = trace.claims;
  other.case_hash = trace.case_hash;
  other.groups = trace.groups;
  for (const Tap& tap : trace.taps()) {
    Tensor value = tap.value;
    if (tap.name.text() == name) value.set(1, value.value(1) * 1.5 + 0.125);
    other.add(tap.name, value);
  }
  return other;
}

TEST(BufferVariants, FindABufferThatAProductLeftWrong) {
  const Case c = with(mlp(5, Dtype::fp16), into_buffer);
  const std::string buffer = "w0/m3/accumulate/buffer.fc2.weight";
  const auto checks = judged(c, tampered(run(c), buffer));
  const TensorCheck* failure = first_failure(checks);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->tap, buffer);
  EXPECT_EQ(failure->stage, "backward..accumulate");
  EXPECT_EQ(failure->lens, "group");
}

/// beta = 0: every micro-batch overwrites the buffer.
void forgets_the_buffer(Run& run, const GemmCall& call, const GemmOrder& order) {
  GemmCall overwriting = call;
  overwriting.beta = 0;
  stage::gemm(run, overwriting, order);
}

TEST(BufferVariants, FindAProductThatOverwritesTheBuffer) {
  Stages stages = shipped_stages();
  stages.gemm = forgets_the_buffer;
  stages.variants = into_buffer;
  const Case c = mlp(5, Dtype::fp16);
  const auto checks = judged(c, run(c, {.stages = &stages}));
  const TensorCheck* failure = first_failure(checks);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->stage, "backward..accumulate");
  EXPECT_TRUE(failure->tap.starts_with("w0/m1/accumulate/buffer.")) << failure->tap;
}

TEST(BufferVariants, FindACompensationThatIsNotWhatTheAdditionLost) {
  const Case c = with(mlp(5, Dtype::fp16), kahan);
  const std::string compensation = "w0/m3/accumulate/compensation.fc2.weight";
  const TensorCheck* failure = nullptr;
  const auto checks = judged(c, tampered(run(c), compensation));
  failure = first_failure(checks);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->tap, compensation);
  EXPECT_EQ(failure->stage, "accumulate");
}

/// The compensation of one window must not reach into the next.
TEST(BufferVariants, FindACompensationThatIsNotCleared) {
  const Case c = with(mlp(5, Dtype::fp16), kahan);
  const std::string first = "w1/m0/accumulate/in.compensation.fc2.weight";
  const auto checks = judged(c, tampered(run(c), first));
  const TensorCheck* failure = first_failure(checks);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->tap, first);
}

/// Sixty-four like gradients into bf16: a compensated sum's bound grows with them, a plain one's with all sums between.
TEST(BufferVariants, BoundACompensatedSumMoreSharplyThanAPlainOne) {
  Case c = mlp(5, Dtype::fp32);
  c.windows.assign(1, std::vector<std::int64_t>(64, 1));
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 5);
  for (const char* name : {"x", "target"}) {
    Tensor& rows = c.tensors.at(name);
    const std::size_t width = rows.elements() / 64;
    for (std::size_t i = width; i < rows.elements(); ++i) rows.set(i, rows.value(i % width));
  }
  c.precision.accumulate = Dtype::bf16;
  const Case compensated = with(c, kahan);
  const std::string last = "w0/m63/accumulate/buffer.fc2.weight";
  const auto plain = end_to_end_expectations(c, run(c)).at(last).e,
             sharp = end_to_end_expectations(compensated, run(compensated)).at(last).e;
  EXPECT_GT(sharp.sum(), 0);
  EXPECT_LE(sharp.sum(), plain.sum());
}

}  // namespace
}  // namespace tally::buffer_variants_test
