#include <gtest/gtest.h>

#include <map>

#include "oracle/tolerance/declared.hpp"

namespace tally::oracle::ledger_test {
namespace {

std::map<std::string, std::string> of(const Claims& claims, const Precision& precision) {
  const auto pairs = ledger(claims, precision);
  return {pairs.begin(), pairs.end()};
}

TEST(Ledger, ChangesWithWhatTheSubjectClaims) {
  Claims plain, special;
  special.constants = "fp32";
  special.divide = "window";
  special.factor = "fp32_twice";
  special.flushes_subnormals = special.tensor_cores = true;
  special.kernels["norm"] = {.variant = "atomics", .height = 40, .global_float_atomics = true};
  Precision half;
  half.storage = Dtype::fp16;
  const auto a = of(plain, Precision{}), b = of(special, half);
  for (const char* assumption : {"constants", "factor", "divisor", "flush to zero in GEMM", "order of addition",
                                 "global float atomics", "GEMM", "storage"}) {
    ASSERT_TRUE(a.contains(assumption)) << assumption;
    EXPECT_NE(a.at(assumption), b.at(assumption)) << assumption;
  }
  EXPECT_NE(b.at("order of addition").find("norm 40"), std::string::npos);
}

TEST(Ledger, SaysWhichVariantsAreDeclared) {
  Claims special;
  special.tensor_cores = true;
  special.tensor_core = "h100";
  special.kernels["gemm"] = {.variant = "split", .splits = 4, .reduction = Dtype::fp16};
  special.kernels["layer_norm.forward"] = {.variant = "v", .algorithm = "welford", .rsqrt = true};
  special.kernels["cross_entropy"] = {.variant = "v", .algorithm = "online"};
  special.kernels["accumulate"] = {.variant = "v", .algorithm = "kahan"};
  special.kernels["linear.weight_gradient"] = {.variant = "v", .algorithm = "into_buffer"};
  Precision half;
  half.storage = Dtype::fp16;
  const auto a = of({}, half), b = of(special, half);
  const std::pair<const char*, const char*> rows[] = {{"GEMM", "h100"},
                                                      {"GEMM split along k", "4 parts added in fp16"},
                                                      {"variance", "layer_norm welford"},
                                                      {"softmax", "online"},
                                                      {"gradient buffer", "kahan"},
                                                      {"gradient buffer", "weights by their product"},
                                                      {"1 / square root", "2 ulp"}};
  for (const auto& [row, words] : rows) {
    EXPECT_NE(b.at(row).find(words), std::string::npos) << row << ": " << b.at(row);
    EXPECT_NE(a.at(row), b.at(row)) << row;
  }
}

TEST(Ledger, SaysWhenOperandsAreTruncated) {
  Precision tf32;
  tf32.tf32 = true;
  EXPECT_NE(of({}, tf32).at("GEMM").find("TF32"), std::string::npos);
}

}  // namespace
}  // namespace tally::oracle::ledger_test
