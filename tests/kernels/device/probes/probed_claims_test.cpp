// A run on a device that was asked claims what a run that knows its order declares, and the bounds hold; with another
// generation's row they do not.
#include "kernels/device/probes/probed_claims.hpp"

#include <gtest/gtest.h>

#include <map>

#include "kernels/device/half.hpp"
#include "kernels/training_step/run/chosen_kernels.hpp"
#include "oracle/tolerance/declared.hpp"
#include "tests/oracle/emulated/dots.hpp"

namespace tally::probed_claims_test {
namespace {

using Kind = GemmOrder::Kind;
using oracle::emulated::Dot;

constexpr Kind orders[] = {Kind::sequential_fma, Kind::tensor_core_v100, Kind::tensor_core_a100,
                           Kind::tensor_core_h100};

const GemmTraits& traits_of(Kind kind) {
  static std::map<Kind, GemmTraits> known;
  const auto found = known.find(kind);
  if (found != known.end()) return found->second;
  return known.emplace(kind, probe_gemm(device(ExecutorKind::host), {kind, 0})).first->second;
}

Precision precision_of(Dtype storage, Dtype compute = Dtype::fp32, bool tf32 = false) {
  Precision precision = oracle::emulated::precision_of(storage, compute);
  precision.tf32 = tf32;
  return precision;
}

std::vector<Precision> precisions() {
  return {precision_of(Dtype::fp32), precision_of(Dtype::fp32, Dtype::fp32, true), precision_of(Dtype::fp16),
          precision_of(Dtype::bf16), precision_of(Dtype::fp16, Dtype::fp16)};
}

/// What the host declares of itself in that order.
Claims declared(Kind kind, const Precision& precision) {
  Claims claims;
  const GemmSettings settings = gemm_settings_of(precision, {{"gemm", to_string({kind, 0})}}, ExecutorKind::host);
  claim_products(claims, precision, settings, ExecutorKind::host, false);
  return claims;
}

/// What a run claims that only asked: of CUDA, so that nothing of it was declared.
Claims asked(const GemmTraits& traits, const Precision& precision) {
  Claims claims;
  claim_products(claims, precision, {}, ExecutorKind::cuda, false);
  claim_probed(claims, traits, precision);
  return claims;
}

TEST(ProbedClaims, AreWhatTheHostDeclaresOfItself) {
  for (const Kind kind : orders) {
    for (const Precision& precision : precisions()) {
      SCOPED_TRACE(to_string({kind, 0}) + " " + std::string(name_of(precision.storage)));
      const Claims found = asked(traits_of(kind), precision), known = declared(kind, precision);
      EXPECT_EQ(found.flushes_subnormals, known.flushes_subnormals);
      EXPECT_EQ(found.tensor_cores, known.tensor_cores);
      EXPECT_EQ(found.tensor_core, known.tensor_core);
      if (precision.tf32) {
        EXPECT_EQ(found.tf32_rounding, known.tf32_rounding);
      }
      EXPECT_EQ(found.kernels.at("gemm").splits, known.kernels.at("gemm").splits);
    }
  }
}

/// Without answers every run on a GPU claims the worst of all.
TEST(ProbedClaims, OfADeviceThatRefusedAreThoseOfOneThatWasNotAsked) {
  for (const Precision& precision : precisions()) {
    Claims worst;
    claim_products(worst, precision, {}, ExecutorKind::cuda, false);
    const Claims found = asked(GemmTraits{}, precision);
    EXPECT_TRUE(found.flushes_subnormals);
    EXPECT_EQ(found.tensor_cores, worst.tensor_cores);
    EXPECT_EQ(found.tensor_core, "unknown");
    EXPECT_EQ(found.tf32_rounding, "unknown");
  }
}

TEST(ProbedClaims, CountAnyNumberOfPartsWherePartsWereSeenToMeet) {
  GemmTraits traits = traits_of(Kind::tensor_core_h100);
  EXPECT_EQ(asked(traits, precision_of(Dtype::fp16)).kernels.at("gemm").splits, 1);
  traits.fp16.parts_meet_to_nearest = true;
  const Claims claims = asked(traits, precision_of(Dtype::fp16));
  EXPECT_EQ(claims.kernels.at("gemm").splits, 0);
  EXPECT_EQ(claims.kernels.at("gemm").reduction, Dtype::fp32);
}

TEST(ProbedClaims, AreCalledProbedInTheLedger) {
  const auto row = [](const Claims& claims, const std::string& name) {
    const auto all = oracle::ledger(claims, precision_of(Dtype::fp16));
    return std::map<std::string, std::string>(all.begin(), all.end()).at(name);
  };
  for (const char* name : {"GEMM", "flush to zero in GEMM"}) {
    EXPECT_TRUE(row(asked(traits_of(Kind::tensor_core_h100), precision_of(Dtype::fp16)), name).ends_with("(probed)"));
    EXPECT_FALSE(row(declared(Kind::tensor_core_h100, precision_of(Dtype::fp16)), name).ends_with("(probed)"));
  }
  const auto rows = probed_rows(traits_of(Kind::tensor_core_a100));
  EXPECT_NE(
      std::ranges::find(rows, std::pair<std::string, std::string>{"probed: sums of bf16 products",
                                                                  "8 at once, 24 fraction bits, truncated: row a100"}),
      rows.end());
}

/// A GPU that is there would be asked; the host's order is declared.
TEST(ProbedClaims, OfTheHostAreThoseItDeclares) {
  const Precision precision = precision_of(Dtype::fp16);
  Claims claims = declared(Kind::tensor_core_a100, precision);
  const std::string before = to_json(claims);
  claim_probed_products(claims, precision, {}, device(ExecutorKind::host));
  EXPECT_EQ(to_json(claims), before);
}

template <class S>
double multiplied(Kind kind, const Precision& precision, const Dot& dot) {
  std::vector<S> a, b;
  for (const double each : dot.a) a.push_back(from_float<S>(static_cast<float>(each)));
  for (const double each : dot.b) b.push_back(from_float<S>(static_cast<float>(each)));
  float wide = 0;
  half narrow{};
  const bool in_half = precision.compute == Dtype::fp16;
  GemmCall call{.m = 1, .n = 1, .k = std::ssize(a), .a = a.data(), .b = b.data()};
  call.c = in_half ? static_cast<void*>(&narrow) : &wide;
  call.operands = precision.storage;
  call.result = call.compute = in_half ? Dtype::fp16 : Dtype::fp32;
  call.tf32 = precision.tf32;
  Stream stream(device(ExecutorKind::host));
  const bool modelled = runs_on_tensor_cores(kind, precision.storage, precision.tf32);
  gemm(stream, call, modelled ? GemmOrder{kind, 0} : GemmOrder{});
  return static_cast<double>(in_half ? to_float(narrow) : wide);
}

double product(Kind kind, const Precision& precision, const Dot& dot) {
  return precision.storage == Dtype::fp16   ? multiplied<half>(kind, precision, dot)
         : precision.storage == Dtype::bf16 ? multiplied<bfloat16>(kind, precision, dot)
                                            : multiplied<float>(kind, precision, dot);
}

TEST(ProbedClaims, BoundEveryProductOfTheDeviceThatWasAsked) {
  oracle::emulated::Table table("GEMM as probed");
  for (const Kind kind : orders) {
    for (const Precision& precision : precisions()) {
      const Claims claims = asked(traits_of(kind), precision);
      const std::string name = to_string({kind, 0}) + " " + std::string(name_of(precision.storage)) +
                               (precision.tf32 ? " as TF32" : "") +
                               (precision.compute == Dtype::fp16 ? " in fp16" : "");
      const oracle::Format small =
          oracle::format_of(precision.compute == Dtype::fp16 ? Dtype::fp16 : precision.storage);
      oracle::emulated::each_dot(oracle::format_of(precision.storage), small, [&](const Dot& dot, std::mt19937_64&) {
        const auto bound = oracle::emulated::held(precision, claims, dot);
        table.hold(name, dot.data, bound.exact, bound.e, product(kind, precision, dot));
      });
    }
  }
  table.expect_sound();
}

/// 1 and many products of just less than a block of v100 keeps beside it.
TEST(ProbedClaims, OfAnotherGenerationAreBroken) {
  const std::size_t k = 4096;
  Dot dot{oracle::emulated::Vector(k, 0x1.ffp-12), oracle::emulated::Vector(k, 0x1p-12),
          oracle::emulated::Data::same_sign};
  dot.a[0] = dot.b[0] = 1;
  const Precision precision = precision_of(Dtype::fp16);
  const double got = product(Kind::tensor_core_v100, precision, dot);
  const auto within = [&](Kind asked_of) {
    const auto bound = oracle::emulated::held(precision, asked(traits_of(asked_of), precision), dot);
    return std::fabs(static_cast<long double>(got) - bound.exact) <= static_cast<long double>(bound.e);
  };
  EXPECT_TRUE(within(Kind::tensor_core_v100));
  EXPECT_FALSE(within(Kind::tensor_core_a100));
  EXPECT_FALSE(within(Kind::tensor_core_h100));
  EXPECT_FALSE(within(Kind::sequential_fma));
}

}  // namespace
}  // namespace tally::probed_claims_test
