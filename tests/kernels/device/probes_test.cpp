// What the probes find of the host's GEMM, whose orders are documented, and that tensor cores are models of.
#include "kernels/device/probes/probes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernels/device/probes/products.hpp"
#include "oracle/tolerance/gemm.hpp"

namespace tally::probes_test {
namespace {

using Kind = GemmOrder::Kind;

/// The host's GEMM in one order, asked once.
const GemmTraits& traits_of(Kind kind) {
  static std::map<Kind, GemmTraits> known;
  const auto found = known.find(kind);
  if (found != known.end()) return found->second;
  return known.emplace(kind, probe_gemm(device(ExecutorKind::host), {kind, 0})).first->second;
}

void expect_scalar(const SumTraits& found) {
  EXPECT_TRUE(found.answered);
  EXPECT_TRUE(found.keeps_subnormals);
  EXPECT_EQ(found.terms, 1u);
  EXPECT_EQ(found.rounding, "nearest");
  EXPECT_EQ(found.row, "scalar");
}

void expect_blocks(const SumTraits& found, std::size_t terms, int bits, const char* rounding, const char* row) {
  EXPECT_TRUE(found.answered);
  EXPECT_TRUE(found.keeps_subnormals);
  EXPECT_EQ(found.terms, terms);
  EXPECT_EQ(found.fraction_bits, bits);
  EXPECT_EQ(found.rounding, rounding);
  EXPECT_EQ(found.row, row);
  EXPECT_FALSE(found.parts_meet_to_nearest);
}

TEST(Probes, FindWhatTheHostsGemmDocuments) {
  const GemmTraits& traits = traits_of(Kind::sequential_fma);

  for (const SumTraits* each : {&traits.fp32, &traits.tf32, &traits.fp16, &traits.bf16, &traits.in_half})
    expect_scalar(*each);
  EXPECT_EQ(traits.fp32_rounding, "none");
  EXPECT_EQ(traits.tf32_rounding, "nearest");
  EXPECT_EQ(traits.half_group, 1u);
  EXPECT_TRUE(traits.repeats);
  EXPECT_TRUE(traits.scales);
}

TEST(Probes, TakeEveryScalarOrderForOne) {
  for (const GemmOrder& order : {GemmOrder{Kind::sequential_mul_add, 0}, GemmOrder{Kind::pairwise, 0},
                                 GemmOrder{Kind::chunked, 7}, GemmOrder{Kind::split_k, 3}}) {
    SCOPED_TRACE(to_string(order));
    const GemmTraits traits = probe_gemm(device(ExecutorKind::host), order);
    for (const SumTraits* each : {&traits.fp32, &traits.tf32, &traits.fp16, &traits.bf16, &traits.in_half})
      expect_scalar(*each);
  }
}

TEST(Probes, TellTheGenerationsOfTensorCoresApart) {
  const struct {
    Kind kind;
    const char* name;
    std::size_t terms, tf32;
    int bits;
  } models[] = {{Kind::tensor_core_v100, "v100", 4, 0, 23},
                {Kind::tensor_core_a100, "a100", 8, 4, 24},
                {Kind::tensor_core_h100, "h100", 16, 8, 25}};
  for (const auto& model : models) {
    SCOPED_TRACE(model.name);
    const GemmTraits& traits = traits_of(model.kind);
    expect_scalar(traits.fp32);
    expect_blocks(traits.fp16, model.terms, model.bits, "truncate", model.name);
    expect_blocks(traits.bf16, model.terms, model.bits, "truncate", model.name);
    expect_blocks(traits.in_half, model.terms, model.bits, "nearest", model.name);
    EXPECT_EQ(traits.half_group, model.terms);
    if (model.tf32 == 0) {
      expect_scalar(traits.tf32);  // no such instruction: the host multiplies by scalars
      EXPECT_EQ(traits.tf32_rounding, "nearest");
    } else {
      expect_blocks(traits.tf32, model.tf32, model.bits, "truncate", model.name);
      EXPECT_EQ(traits.tf32_rounding, "truncate");
    }
  }
}

TEST(Probes, SeePartsOfKThatMeetByOtherRoundings) {
  const GemmTraits traits = probe_gemm(device(ExecutorKind::host), {Kind::tensor_core_h100, 0}, {.splits = 3});

  EXPECT_EQ(traits.fp16.row, "h100");
  EXPECT_TRUE(traits.fp16.parts_meet_to_nearest);
}

/// A case asks of its own kind of product alone; it must hear what all questions together would have told it.
TEST(Probes, OfOnePrecisionAnswerAsAllOfThemDoAndLeaveTheOthersOpen) {
  const GemmTraits& all = traits_of(Kind::tensor_core_a100);
  const Precision bf16 = [] {
    Precision precision;
    precision.storage = Dtype::bf16;
    return precision;
  }();

  const GemmTraits one = probe_gemm(device(ExecutorKind::host), {Kind::tensor_core_a100, 0}, {}, &bf16);

  EXPECT_EQ(one.bf16.row, all.bf16.row);
  EXPECT_EQ(one.bf16.terms, all.bf16.terms);
  EXPECT_EQ(one.bf16.fraction_bits, all.bf16.fraction_bits);
  EXPECT_EQ(one.bf16.keeps_subnormals, all.bf16.keeps_subnormals);
  for (const SumTraits* other : {&one.fp32, &one.tf32, &one.fp16, &one.in_half}) EXPECT_FALSE(other->answered);
  EXPECT_EQ(one.tf32_rounding, "unknown");
}

TEST(Probes, RefuseAnAlgorithmOfTheLibrarysList) {
  EXPECT_THROW(probe_gemm(device(ExecutorKind::host), {}, {.algorithm = 0}), std::invalid_argument);
}

TEST(Probes, TakeOfTwoRoundingsWhatHoldsOfBoth) {
  EXPECT_EQ(loosest_rounding("truncate", "truncate"), "truncate");
  EXPECT_EQ(loosest_rounding("none", "nearest"), "nearest");
  EXPECT_EQ(loosest_rounding("none", "none"), "none");
  for (const char* other : {"none", "nearest", "unknown"}) EXPECT_EQ(loosest_rounding(other, "truncate"), "unknown");
}

/// Kernels may not read the bounds, so the rows stand in both places.
TEST(Probes, ChooseAmongTheRowsOfTheBounds) {
  ASSERT_FALSE(generation_rows().empty());
  for (const GenerationRow& row : generation_rows()) {
    const oracle::TensorCore bound = oracle::tensor_core(row.name, false),
                             of_tf32 = oracle::tensor_core(row.name, true);
    EXPECT_EQ(static_cast<double>(row.terms), bound.terms);
    EXPECT_EQ(row.fraction_bits, bound.fraction_bits);
    EXPECT_EQ(of_tf32.terms, 4);
    EXPECT_EQ(row.fraction_bits, of_tf32.fraction_bits);
  }
}

TEST(Probes, SeeAtomicsFlushInGlobalMemoryOnly) {
  const AtomicTraits found = probe_atomics(device(ExecutorKind::host));

  EXPECT_FALSE(found.global_keeps);
  EXPECT_TRUE(found.shared_keeps);
}

TEST(Probes, HaveNoListOfAlgorithmsOnTheHost) { EXPECT_TRUE(listed_algorithms(device(ExecutorKind::host)).empty()); }

Probe probe_named(const std::vector<Probe>& all, const std::string& question) {
  const auto found = std::ranges::find_if(all, [&](const Probe& each) { return each.question == question; });
  return found == all.end() ? Probe{} : *found;
}

TEST(Probes, SayWhatTheBoundsTakeFromTheAnswers) {
  GemmTraits traits;
  traits.tf32_rounding = "truncate";
  traits.tf32.answered = traits.fp32.answered = true;
  traits.fp16 = {.answered = true, .rounding = "truncate", .terms = 8, .fraction_bits = 24, .row = "a100"};
  const std::vector<Probe> probes = probes_of(traits);

  EXPECT_EQ(probe_named(probes, "sums of fp16 products").answer, "8 at once, 24 fraction bits, truncated");
  EXPECT_EQ(probe_named(probes, "sums of fp16 products").consequence, "row a100");
  EXPECT_EQ(probe_named(probes, "sums of bf16 products").answer, "not run: the device refused some");
  EXPECT_EQ(probe_named(probes, "bf16 numbers below 2^-126").answer, "not run: the device refused some");
  EXPECT_EQ(probe_named(probes, "bf16 numbers below 2^-126").consequence, "a flush term for every product and sum");
  EXPECT_EQ(probe_named(probes, "fp32 numbers below 2^-126").answer, "read as zero");
  traits.fp32 = traits.fp16;
  EXPECT_EQ(probe_named(probes_of(traits), "sums of fp32 products").consequence, "NOT COVERED by any bound");
  EXPECT_EQ(probe_named(probes, "TF32 operands").answer, "rounded: truncate");
  EXPECT_EQ(probe_named(probes, "the same product 20 times").answer, "OTHER BITS");
  AtomicTraits flushing;
  EXPECT_EQ(probes_of(flushing).back().consequence, "NOT COVERED by any bound");
}

}  // namespace
}  // namespace tally::probes_test
