#include <gtest/gtest.h>

#include "kernels/device/kernel_registry.hpp"
#include "oracle/layers/claim.hpp"

namespace tally::claims_test {
namespace {

std::string refusal(const std::string& json) {
  try {
    claims_of_json(json);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Claims, WriteHowTheFactorIsRoundedOnlyWhereItIsNotTheDefault) {
  Claims claims;
  EXPECT_EQ(to_json(claims).find("factor"), std::string::npos);
  for (const char* word : {"fp32", "fp32_twice"}) {
    claims.factor = word;
    EXPECT_EQ(claims_of_json(to_json(claims)).factor, word);
  }
  claims.factor = "thrice";
  EXPECT_THROW(claims_of_json(to_json(claims)), std::runtime_error);
}

TEST(Claims, ComeBackAsTheyWereWritten) {
  Claims claims;
  claims.subject = "cuda";
  claims.tensor_cores = true;
  claims.kernels["norm"] = {"two_stage", Repeats::within_claim, 12, "welford", true, Dtype::bf16};
  const Claims back = claims_of_json(to_json(claims));
  EXPECT_EQ(to_json(back), to_json(claims));
  EXPECT_EQ(back.kernels.at("norm").height, 12);
  EXPECT_EQ(back.kernels.at("norm").repeats, Repeats::within_claim);
}

TEST(Claims, CarryVariantsAndReadTracesFromBeforeThem) {
  Claims claims;
  claims.tensor_core = "h100";
  claims.tf32_rounding = "nearest";
  claims.kernels["gemm"] = {.variant = "split", .splits = 4, .reduction = Dtype::bf16};
  claims.kernels["batch_norm.statistics"] = {.variant = "lanes", .algorithm = "welford", .rsqrt = true};
  const Claims back = claims_of_json(to_json(claims));
  EXPECT_EQ(to_json(back), to_json(claims));
  EXPECT_EQ(back.kernels.at("gemm").splits, 4);
  EXPECT_EQ(back.kernels.at("gemm").reduction, Dtype::bf16);
  EXPECT_TRUE(back.kernels.at("batch_norm.statistics").rsqrt);
  EXPECT_EQ(back.tensor_core, "h100");
  const Claims old = claims_of_json(
      R"({"subject": "x", "kernels": {"gemm": {"variant": "v", "repeats": "bitwise", "height": 0, "algorithm": "",)"
      R"( "global_float_atomics": false, "result": "fp32"}}, "constants": "fp32", "divide": "window",)"
      R"( "flushes_subnormals": false, "tensor_cores": false})");
  EXPECT_EQ(old.tensor_core, "unknown");
  EXPECT_EQ(old.tf32_rounding, "unknown");
  EXPECT_EQ(old.kernels.at("gemm").splits, 1);
  EXPECT_EQ(old.kernels.at("gemm").reduction, Dtype::fp32);
}

TEST(Claims, RefuseAVariantWithoutABound) {
  const auto refused = [](const std::string& operation, const KernelClaim& claim) {
    Claims claims;
    claims.kernels[operation] = claim;
    return refusal(to_json(claims));
  };
  EXPECT_EQ(refused("accumulate", {.variant = "v", .algorithm = "stochastic"}),
            "claims: kernels.accumulate.algorithm is \"stochastic\"; expected \"\" | any | kahan | native | plain");
  EXPECT_NE(refused("layer_norm.forward", {.variant = "v", .algorithm = "three_pass"}), "");
  EXPECT_NE(refused("cross_entropy", {.variant = "v", .algorithm = "two_pass"}), "");
  EXPECT_NE(refused("gemm", {.variant = "v", .splits = -1}), "");
  Claims claims;
  claims.tensor_core = "x1";
  EXPECT_EQ(refusal(to_json(claims)),
            "claims: tensor_core is \"x1\"; expected a100 | b200 | h100 | h200 | unknown | v100");
  claims = {};
  claims.tf32_rounding = "up";
  EXPECT_EQ(refusal(to_json(claims)), "claims: tf32_rounding is \"up\"; expected nearest | truncate | unknown");
}

TEST(Claims, CarryAnOrderOfAdditionsStepByStep) {
  Claims claims;
  claims.kernels["norm"] = {
      .variant = "v",
      .additions = {{SumStep::chunks, 4096}, {SumStep::tree}, {SumStep::meet}, {SumStep::lanes, 2}},
      .function_ulp = 0.51};
  const std::string json = to_json(claims);
  EXPECT_NE(json.find(R"("additions":[{"chunks":4096},"tree","meet",{"lanes":2}])"), std::string::npos) << json;
  const Claims back = claims_of_json(json);
  EXPECT_EQ(back.kernels.at("norm").additions, claims.kernels.at("norm").additions);
  EXPECT_EQ(back.kernels.at("norm").function_ulp, 0.51);
}

TEST(Claims, KeepTheirBytesWhereNothingNewIsDeclared) {
  Claims claims;
  claims.kernels["norm"] = {.variant = "v"};
  const std::string json = to_json(claims);
  EXPECT_EQ(json.find("additions"), std::string::npos);
  EXPECT_EQ(json.find("function_ulp"), std::string::npos);
}

TEST(Claims, RefuseAnOrderOfAdditionsThatIsNone) {
  const auto refused = [](const std::string& additions) {
    Claims claims;
    claims.kernels["norm"] = {.variant = "v", .additions = {{SumStep::tree}}};
    std::string json = to_json(claims);
    json.replace(json.find(R"(["tree"])"), 8, additions);
    return refusal(json);
  };
  EXPECT_EQ(refused(R"({"tree": 2})"), R"(claims: kernels.norm.additions is {"tree":2}; expected a list of steps)");
  EXPECT_NE(refused(R"([{"tree": 2}])"), "");
  EXPECT_NE(refused(R"(["lanes"])"), "");
  EXPECT_NE(refused(R"([{"lanes": 1.5}])"), "");
  EXPECT_EQ(refused(R"([{"lanes": 0}])"), "claims: kernels.norm.additions is lanes 0; expected an order of additions");
  EXPECT_EQ(refused(R"(["meet"])"),
            "claims: kernels.norm.additions is a meet without chunks; expected an order of additions");
  Claims claims;
  claims.kernels["tanh.forward"] = {.variant = "v", .function_ulp = 0.25};
  EXPECT_EQ(refusal(to_json(claims)),
            "claims: kernels.tanh.forward.function_ulp is 0.25; expected a number from 0.5 to 4096");
  claims.kernels["tanh.forward"].function_ulp = 1e300;
  EXPECT_EQ(refusal(to_json(claims)),
            "claims: kernels.tanh.forward.function_ulp is 1e+300; expected a number from 0.5 to 4096");
}

TEST(Claims, RefuseWhatNoClaimIsInAFewWords) {
  const std::string text = to_json(Claims{});
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& wrong : {text + std::string("\0x", 2), R"({"subject": )" + deep + "}", deep,
                                   R"({"subject": ")" + std::string(1'000'000, 'x') + R"(", "subject": 1})",
                                   R"({")" + std::string(1'000'000, 'x') + R"(": 1})"}) {
    const std::string said = refusal(wrong);
    EXPECT_TRUE(said.starts_with("claims: ")) << said.substr(0, 100);
    EXPECT_LT(said.size(), 1000u);
  }
}

TEST(Claims, NameTheKeyTheyRefuse) {
  std::string text = to_json(Claims{});
  EXPECT_EQ(refusal("[]"), "claims: the document is []; expected an object");
  text.replace(text.find("binary64"), 8, "fp64");
  EXPECT_EQ(refusal(text), "claims: constants is \"fp64\"; expected binary64 | fp32");
  EXPECT_EQ(refusal(R"({"speed": 1})"), "claims: speed is unknown; expected a key of a claim");
}

/// Else a trace of Tally's own would be refused.
TEST(Claims, OfEveryKernelThatShipsCanBeRead) {
  std::size_t read = 0;
  for (const RegisteredKernel* kernel : registered_kernels()) {
    if (kernel->claim.variant.starts_with("~") || kernel->operation.starts_with("registry_test")) continue;
    Claims claims;
    claims.kernels[kernel->operation] = kernel->claim;
    EXPECT_EQ(refusal(to_json(claims)), "") << kernel->operation << " by " << kernel->claim.variant;
    ++read;
  }
  EXPECT_GT(read, 0u);
}

}  // namespace
}  // namespace tally::claims_test
