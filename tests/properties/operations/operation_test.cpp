#include "properties/campaign/provenance/operation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "kernels/training_step/run/run.hpp"
#include "kernels/training_step/stages.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/run_and_check.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::operation_test {
namespace {

std::vector<OperationRecord> operations_of(const Case& c, const RunOptions& subject) {
  const OperationScope scope;
  const CheckedRun judged = run_and_check(c, subject);
  return scope.records(c, judged.outcome.checks);
}

const OperationRecord& named(const std::vector<OperationRecord>& operations, const std::string& name) {
  return *std::find_if(operations.begin(), operations.end(), [&](const auto& o) { return o.operation == name; });
}

TEST(Operations, EveryOutputHasItsOperationAndEveryInputItsReader) {
  const Case c = case_with_everything();
  const Trace trace = run(c);
  ASSERT_FALSE(trace.taps().empty());
  for (const Tap& tap : trace.taps()) {
    const bool input = tap.name.tensor.starts_with("in.");
    EXPECT_EQ(operation_writing(c, tap.name).empty(), input) << tap.name.text();
    EXPECT_TRUE(!input || !operations_reading(c, tap.name).empty()) << tap.name.text();
  }
}

TEST(Operations, AreThoseThatTheRunClaims) {
  const Case c = case_with_everything();
  const Trace trace = run(c);
  const std::set<std::string> without_kernel = {"schedule", "count"};
  std::size_t claimed = 0;
  for (const Tap& tap : trace.taps()) {
    const std::string operation = operation_writing(c, tap.name);
    if (operation.empty() || without_kernel.contains(operation)) continue;
    EXPECT_TRUE(trace.claims.kernels.contains(claimed_name_of(operation))) << operation;
    ++claimed;
  }
  EXPECT_GT(claimed, 0u);
}

TEST(Operations, RepeatToTheBit) {
  const Case c = case_with_everything();
  const auto first = operations_of(c, {}), second = operations_of(c, {});
  ASSERT_EQ(first.size(), second.size());
  ASSERT_GT(first.size(), 10u);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].bits, second[i].bits) << first[i].operation;
    EXPECT_EQ(first[i].inputs, second[i].inputs) << first[i].operation;
    EXPECT_EQ(first[i].drift, second[i].drift) << first[i].operation;
  }
}

TEST(Operations, HoldHowTheirTensorsStoodToTheirBounds) {
  const auto operations = operations_of(case_with_everything(), {});
  for (const OperationRecord& o : operations) {
    EXPECT_GT(o.standing.checks, 0u) << o.operation;
    EXPECT_FALSE(o.standing.format.empty()) << o.operation;
    EXPECT_FALSE(o.standing.shapes.empty()) << o.operation;
    EXPECT_LE(o.standing.excess, 1) << o.operation;
    EXPECT_LE(o.standing.excess, 1.01 * o.standing.ratio) << o.operation;
  }
  EXPECT_GT(named(operations, "layer_norm.forward").standing.roundings, 2);
  EXPECT_EQ(named(operations, "cast").standing.roundings, 0) << "its bits are known";
}

TEST(Operations, NameTheKernelOfTheFirstFailingTensor) {
  const Case c = case_with_everything();
  CheckedRun judged = run_and_check(c, RunOptions{});
  for (TensorCheck& check : judged.outcome.checks)
    if (check.lens == "local" && check.tap == "w0/m0/forward/ln.y") check.status = Status::fail;
  const std::string kernel = failing_kernel(c, judged.outcome.checks, judged.trace.claims);
  EXPECT_EQ(kernel.find("layer_norm.forward/"), 0u);
  EXPECT_NE(kernel.find("kernels/"), std::string::npos);
  EXPECT_EQ(failing_kernel(c, {}, judged.trace.claims), "");
}

/// A law may run others than the case's own: "eager" of an attention that fails in "online".
TEST(Operations, NameTheVariantOfTheRunThatFailed) {
  Case c = case_with_everything();
  OperationScope scope;
  const CheckedRun right = run_and_check(c, RunOptions{});
  c.execution.kernels["accumulate"] = "kahan";
  CheckedRun wrong = run_and_check(c, RunOptions{});
  for (TensorCheck& check : wrong.outcome.checks)
    if (check.lens == "local" && check.tap.find("/accumulate/buffer.") != std::string::npos)
      check.status = Status::fail;

  scope.see_run(c, wrong);

  ASSERT_EQ(variant_of(right.trace.claims, "accumulate"), "grid_stride");
  EXPECT_EQ(scope.failing_kernel(wrong.outcome.checks).find("accumulate/kahan, kernels/"), 0u);
  EXPECT_EQ(scope.failing_kernel(right.outcome.checks), "");
}

TEST(Operations, StandBeyondEveryLimitWhereARatioIsNoNumber) {
  const Case c = small_case();
  const OperationScope scope;
  CheckedRun judged = run_and_check(c, RunOptions{});
  for (TensorCheck& check : judged.outcome.checks)
    if (check.tap.find("/accumulate/buffer.") != std::string::npos) {
      check.worst_ratio = std::numeric_limits<double>::quiet_NaN();
      break;
    }
  EXPECT_EQ(named(scope.records(c, judged.outcome.checks), "accumulate").standing.ratio,
            std::numeric_limits<double>::infinity());
}

TEST(Operations, ReadWhatAStageComputedForItself) {
  const Case c = case_with_everything();
  EXPECT_EQ(operations_reading(c, tap_name_of("w0/clip/coefficient")), (std::vector<std::string>{"clip_by_norm"}));
  EXPECT_EQ(operations_reading(c, tap_name_of("w0/m0/forward/ln.rstd")),
            (std::vector<std::string>{"layer_norm.backward", "layer_norm.parameter_gradients"}));
  EXPECT_TRUE(operations_reading(c, tap_name_of("w0/m0/forward/ln.y")).empty());
}

/// dx of batch_norm needs both column sums in fp32; the gradients' taps hold them in the storage format.
TEST(Operations, TellWhetherTheSumsThatBatchNormReadAreSeen) {
  Case c = small_case();
  const Layer norm = layer_of("batch_norm", "bn", {{"statistics", std::string("micro_batch")}});
  c.model.layers.insert(c.model.layers.begin(), norm);
  const std::string gradient = "w0/m0/backward/d.bn";

  EXPECT_EQ(operations_reading(c, tap_name_of(gradient + ".weight")), std::vector<std::string>{"batch_norm.backward"});
  EXPECT_EQ(operations_reading(c, tap_name_of(gradient + ".bias")), std::vector<std::string>{"batch_norm.backward"});
  EXPECT_TRUE(operations_reading(c, tap_name_of(gradient + ".x")).empty());
  ASSERT_TRUE(c.model.layers.front().flag("affine"));
  EXPECT_EQ(unseen_by(c, "batch_norm.backward"), "");
  c.precision.storage = Dtype::fp16;
  EXPECT_EQ(unseen_by(c, "batch_norm.backward"), "batch_norm.parameter_gradients");
  EXPECT_EQ(unseen_by(c, "batch_norm.forward"), "");
}

void double_gradients(Run& run) {
  stage::fix_factor(run);
  run.factor *= 2;
}

/// A loss that takes another factor than its own: what follows has other inputs, what came before has none.
TEST(Operations, TellWhatChangedByItselfFromWhatHadOtherInputs) {
  const Case c = small_case();
  Stages stages = shipped_stages();
  stages.factor = double_gradients;
  RunOptions subject;
  subject.stages = &stages;
  const auto before = operations_of(c, {}), now = operations_of(c, subject);
  EXPECT_EQ(named(before, "linear.forward").variant, named(now, "linear.forward").variant);
  const std::string loss = c.model.loss.kind;
  EXPECT_NE(named(before, loss).bits, named(now, loss).bits);
  EXPECT_NE(named(before, loss).inputs, named(now, loss).inputs);
  EXPECT_NE(named(before, "linear.weight_gradient").inputs, named(now, "linear.weight_gradient").inputs);
  EXPECT_FALSE(named(now, "linear.weight_gradient").variant.empty());
}

/// Between fused stages nothing is tapped: what the last of them read shows where the first one reads.
TEST(Operations, FusedWithOthersHaveTheInputsOfAll) {
  Case c = small_case();
  c.recipe.weight_decay = choice_of("weight_decay", "l2", {{"lambda", Decimal{"0.5"}}});
  c.execution.kernels = {{"clip_decay_step", "multi_tensor"}, {"linear.weight_gradient", "into_buffer"}};
  Case other = c;
  Tensor& x = other.tensors.at("x");
  for (std::size_t i = 0; i < x.elements(); ++i) x.set(i, x.value(i) + 1);
  const auto before = operations_of(c, {}), now = operations_of(other, {});
  for (const char* operation : {"sgd", "accumulate"}) {
    EXPECT_NE(named(before, operation).bits, named(now, operation).bits) << operation;
    EXPECT_NE(named(before, operation).inputs, named(now, operation).inputs) << operation;
  }
}

/// A fused pass writes the taps of the operations that it stands for: what changes in it is its own.
TEST(Operations, OfAFusedPassNameItAsTheirKernel) {
  Case c = small_case();
  c.execution.kernels = {{"clip_decay_step", "multi_tensor"}};
  const auto records = operations_of(c, {});
  EXPECT_EQ(named(records, "sgd").variant, "clip_decay_step/multi_tensor");
  EXPECT_EQ(named(operations_of(small_case(), {}), "sgd").variant, "grid_stride");
}

/// A law may run a case by several kernels: what each of them read and wrote stands by itself.
TEST(Operations, StandOnceAVariant) {
  Case one = small_case(), other = one;
  other.execution.kernels = {{"linear.bias_gradient", "two_stage"}};
  OperationScope scope;
  scope.see(one, run(one));
  scope.see(other, run(other));
  std::vector<std::string> variants;
  for (const OperationRecord& record : scope.records(one, {}))
    if (record.operation == "linear.bias_gradient") variants.push_back(record.variant);
  EXPECT_EQ(variants, (std::vector<std::string>{"column_lanes", "two_stage"}));
}

TEST(Operations, AreThoseOfRunsThatAreCheckedWhileTheScopeLives) {
  const Case c = small_case();
  run_and_check(c, RunOptions{});
  const OperationScope scope;
  EXPECT_TRUE(scope.records(c, {}).empty());
  run(c);
  EXPECT_TRUE(scope.records(c, {}).empty());
  run_and_check(c, RunOptions{});
  EXPECT_FALSE(scope.records(c, {}).empty());
}

}  // namespace
}  // namespace tally::operation_test
