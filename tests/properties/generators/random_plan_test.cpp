#include "properties/generators/random_plan.hpp"

#include <gtest/gtest.h>

#include "kernels/device/kernel_registry.hpp"
#include "oracle/case/io.hpp"
#include "properties/generators/drawn_options.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/law.hpp"

namespace tally::random_plan_test {
namespace {

/// The case of the i-th plan of a fixed seed.
Plan plan_number(std::uint64_t i, Dtype storage) {
  const rc::Random random(i);
  return random_plan(storage)(random, 100).value();
}

TEST(RandomPlan, MakesValidCasesForEveryLawInEveryPrecision) {
  ASSERT_FALSE(laws().empty());
  for (const Law* law : laws()) {
    for (const Dtype storage : {Dtype::fp32, Dtype::fp16}) {
      for (std::uint64_t i = 1; i <= 40; ++i) {
        Plan plan = plan_number(i, storage);
        if (law->shape) law->shape(plan);
        EXPECT_NO_THROW(case_of(plan)) << law->name << ", plan " << i;
      }
    }
  }
}

TEST(RandomPlan, GivesTheSameCaseForTheSameSeed) {
  EXPECT_EQ(hash_of(case_of(plan_number(3, Dtype::fp32))), hash_of(case_of(plan_number(3, Dtype::fp32))));
  EXPECT_NE(hash_of(case_of(plan_number(3, Dtype::fp32))), hash_of(case_of(plan_number(4, Dtype::fp32))));
}

TEST(RandomPlan, ReachesEveryLayerLossAndRecipeSection) {
  std::set<std::string> seen;
  for (std::uint64_t i = 1; i <= 400; ++i) {
    const Case c = case_of(plan_number(i, Dtype::fp32));
    for (const Layer& l : c.model.layers) seen.insert(l.kind);
    const Recipe& r = c.recipe;
    for (const Choice* choice :
         {&c.model.loss, &r.optimizer, &r.learning_rate, &r.weight_decay, &r.clip, &r.loss_scale}) {
      seen.insert(choice->kind);
    }
  }
  for (const char* kind :
       {"linear", "batch_norm", "layer_norm", "dropout", "cross_entropy", "mse", "sgd", "adam", "constant", "step",
        "warmup_cosine", "l2", "decoupled", "global_norm", "value", "static", "dynamic"}) {
    EXPECT_TRUE(seen.contains(kind)) << kind << " was never drawn";
  }
  for (const ActivationForms& each : activations_by_kind())
    EXPECT_TRUE(seen.contains(each.kind)) << each.kind << " was never drawn";
}

TEST(RandomPlan, RunsEveryShippedVariantOfEveryKernel) {
  std::set<std::pair<std::string, std::string>> drawn, shipped;
  for (std::uint64_t i = 1; i <= 600; ++i) {
    Plan plan = plan_number(i, i % 2 == 0 ? Dtype::fp32 : Dtype::bf16);
    draw_formats(plan);
    draw_execution(plan);
    if (i % 8 == 0) read_tokens(plan);
    if (i % 8 == 1) attend(plan);
    for (const auto& kernel : plan.execution.kernels) drawn.insert(kernel);
  }
  for (const RegisteredKernel* each : registered_kernels()) {
    const bool host = each->executor == ExecutorKind::host && !each->claim.variant.starts_with('~');
    if (host && shipped_variants(each->operation, ExecutorKind::host).size() > 1) {
      shipped.emplace(each->operation, each->claim.variant);
    }
  }
  for (const std::string pass : {"unscale_check_norm", "clip_decay_step"}) shipped.emplace(pass, "multi_tensor");
  shipped.emplace("head_loss", "chunked");
  for (const std::string pass : {"add_norm", "add_norm.backward"}) shipped.emplace(pass, "fused");
  const std::set<std::pair<std::string, std::string>> standard{{"accumulate", "grid_stride"},
                                                               {"attention.backward", "naive"},
                                                               {"attention.forward", "naive"},
                                                               {"batch_norm.statistics", "two_pass"},
                                                               {"cross_entropy", "row_lanes"},
                                                               {"embedding.gradient", "sorted"},
                                                               {"gated_gelu.backward", "fused"},
                                                               {"gated_gelu.forward", "fused"},
                                                               {"gated_gelu_tanh.backward", "fused"},
                                                               {"gated_gelu_tanh.forward", "fused"},
                                                               {"gated_silu.backward", "fused"},
                                                               {"gated_silu.forward", "fused"},
                                                               {"gemm", "any_order"},
                                                               {"layer_norm.forward", "two_pass"},
                                                               {"linear.bias_gradient", "column_lanes"},
                                                               {"linear.weight_gradient", "separate"},
                                                               {"norm", "two_stage"},
                                                               {"rms_norm.backward", "row_lanes"},
                                                               {"rms_norm.forward", "row_lanes"},
                                                               {"rms_norm.weight_gradient", "column_lanes"},
                                                               {"rotary.backward", "table"},
                                                               {"rotary.forward", "table"}};
  for (const auto& kernel : shipped) {
    EXPECT_EQ(drawn.contains(kernel), !standard.contains(kernel)) << kernel.first << " by " << kernel.second;
  }
}

TEST(RandomPlan, NamesTensorCoresAndBuffersOnlyWhereTheyRun) {
  std::size_t modelled = 0, added = 0;
  for (std::uint64_t i = 1; i <= 600; ++i) {
    Plan plan = plan_number(i, i % 3 == 0 ? Dtype::fp32 : i % 3 == 1 ? Dtype::fp16 : Dtype::bf16);
    draw_formats(plan);
    draw_execution(plan);
    const auto& kernels = plan.execution.kernels;
    const auto gemm = kernels.find("gemm");
    if (gemm != kernels.end()) {
      const bool wide = plan.precision.storage == Dtype::fp32;
      EXPECT_TRUE(!wide || plan.precision.tf32) << i;
      EXPECT_FALSE(wide && gemm->second == "tensor_core_v100") << i;
      ++modelled;
    }
    if (kernels.contains("linear.weight_gradient")) {
      const Dtype buffer = plan.precision.accumulate;
      EXPECT_TRUE(buffer == Dtype::fp32 || buffer == plan.precision.storage) << i;
      ++added;
    }
  }
  EXPECT_GT(modelled, 60u);
  EXPECT_GT(added, 30u);
}

}  // namespace
}  // namespace tally::random_plan_test
