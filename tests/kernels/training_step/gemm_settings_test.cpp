// What a case says of its matrix products, and what the run claims of them.
#include <gtest/gtest.h>

#include "kernels/training_step/run/chosen_kernels.hpp"
#include "kernels/training_step/stages.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::gemm_settings_test {
namespace {

using Kernels = std::map<std::string, std::string>;

Case with_kernels(Kernels kernels, Dtype storage = Dtype::fp16, bool tf32 = false) {
  Case c = small_case();
  c.model.input = 50;
  c.precision.storage = storage;
  c.precision.tf32 = tf32;
  c.execution.kernels = std::move(kernels);
  c.tensors.clear();
  fill_tensors(c);
  for (auto& [name, tensor] : c.tensors) {
    for (std::size_t i = 0; name != "target" && i < tensor.elements(); ++i) tensor.set(i, tensor.value(i) / 7);
  }
  return c;
}

TEST(GemmSettings, NameTheTensorCoresThatAreModelled) {
  const std::map<std::string, std::string> generations{
      {"tensor_core_v100", "v100"}, {"tensor_core_a100", "a100"}, {"tensor_core_h100", "h100"}};
  for (const auto& [variant, generation] : generations) {
    const Claims claims = run(with_kernels({{"gemm", variant}}, Dtype::bf16)).claims;
    EXPECT_TRUE(claims.tensor_cores);
    EXPECT_EQ(claims.tensor_core, generation);
    EXPECT_EQ(claims.kernels.at("gemm").variant, variant);
  }
  const Claims scalar = run(with_kernels({{"gemm", "any_order"}})).claims;
  EXPECT_FALSE(scalar.tensor_cores);
  EXPECT_EQ(scalar.kernels.at("gemm").variant, "sequential_fma");
}

TEST(GemmSettings, LeaveOperandsWithoutAnInstructionToScalars) {
  EXPECT_FALSE(run(with_kernels({{"gemm", "tensor_core_h100"}}, Dtype::fp32)).claims.tensor_cores);
  EXPECT_FALSE(run(with_kernels({{"gemm", "tensor_core_v100"}}, Dtype::fp32, true)).claims.tensor_cores);
  const Claims tf32 = run(with_kernels({{"gemm", "tensor_core_a100"}}, Dtype::fp32, true)).claims;
  EXPECT_TRUE(tf32.tensor_cores);
  EXPECT_EQ(tf32.tf32_rounding, "truncate");
}

TEST(GemmSettings, ReachTheProduct) {
  const char* output = "w0/m0/forward/fc1.y";
  const auto output_of = [&](const Kernels& kernels) {
    const Trace trace = run(with_kernels(kernels, Dtype::fp32, true));
    return *trace.find(output);
  };
  const Tensor scalar = output_of({});
  EXPECT_FALSE(output_of({{"gemm", "tensor_core_a100"}}) == scalar);
  EXPECT_FALSE(output_of({{"gemm.split_k", "3"}}) == scalar);
  EXPECT_TRUE(output_of({{"gemm.math", "default"}}) == scalar);
}

TEST(GemmSettings, ClaimThePartsOfKAndWhereTheyMeet) {
  const auto gemm = [](Kernels kernels) { return run(with_kernels(std::move(kernels))).claims.kernels.at("gemm"); };
  EXPECT_EQ(gemm({}).splits, 1);
  EXPECT_EQ(gemm({{"gemm.split_k", "3"}}).splits, 3);
  EXPECT_EQ(gemm({{"gemm.split_k", "3"}}).reduction, Dtype::fp32);
  EXPECT_EQ(gemm({{"gemm.split_k", "3"}, {"gemm.reduction", "result"}}).reduction, Dtype::fp16);
}

TEST(GemmSettings, ThatNeedALibraryAreRefusedOnTheHost) {
  EXPECT_THROW(run(with_kernels({{"gemm.algorithm", "0"}})), NotSupported);
  EXPECT_THROW(run(with_kernels({{"gemm.workspace", "0"}})), NotSupported);
  EXPECT_THROW(run(with_kernels({{"gemm", "tensor_core_p100"}})), NotSupported);
}

TEST(GemmSettings, OfCudaKeepTheLibrarysChoicesAndNoModel) {
  const std::map<std::string, std::string> chosen{
      {"gemm", "tensor_core_h100"}, {"gemm.algorithm", "3"}, {"gemm.workspace", "4096"}, {"gemm.reduction", "result"}};
  Precision half;
  half.storage = Dtype::fp16;
  const GemmSettings settings = gemm_settings_of(half, chosen, ExecutorKind::cuda);
  EXPECT_FALSE(settings.tensor_core.has_value());
  EXPECT_EQ(settings.choices.algorithm, 3);
  EXPECT_EQ(settings.choices.workspace, 4096);
  Claims claims;
  claim_products(claims, half, settings, ExecutorKind::cuda, false);
  EXPECT_EQ(claims.tensor_core, "unknown");
  EXPECT_EQ(claims.kernels.at("gemm").splits, 0) << "the library may split as it likes";
  EXPECT_EQ(claims.kernels.at("gemm").reduction, Dtype::fp16);
}

TEST(GemmSettings, StandBackWhereARunDrawsItsOrders) {
  const Trace drawn = run(with_kernels({{"gemm", "tensor_core_h100"}}), {.order_seed = 9});
  EXPECT_FALSE(drawn.claims.tensor_cores);
  EXPECT_EQ(drawn.claims.kernels.at("gemm").variant, "drawn_order");
}

/// A table that multiplies by itself has an order of its own: it must not be judged by another's claim.
TEST(GemmSettings, StandBackFromAReplacedProduct) {
  Stages stages = shipped_stages();
  stages.gemm = [](tally::Run& run, const GemmCall& call, const GemmOrder& order) {
    EXPECT_EQ(to_string(order), "sequential_fma");
    stage::gemm(run, call, order);
  };
  EXPECT_FALSE(run(with_kernels({{"gemm", "tensor_core_h100"}}), {.stages = &stages}).claims.tensor_cores);
}

}  // namespace
}  // namespace tally::gemm_settings_test
