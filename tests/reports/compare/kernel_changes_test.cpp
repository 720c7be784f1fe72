#include <gtest/gtest.h>

#include <algorithm>

#include "reports/compare/comparison.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::kernel_changes_test {
namespace {

/// A sample whose cases ran these kernels, each from its own inputs.
Results of_kernels(const std::vector<std::pair<std::string, std::string>>& kernels) {
  Results results = samples::passing();
  for (CaseRecord& c : results.cases) {
    const OperationRecord record = c.operations[0];
    c.operations.clear();
    for (const auto& [operation, variant] : kernels) {
      c.operations.push_back(record);
      c.operations.back().operation = operation, c.operations.back().variant = variant;
    }
  }
  return results;
}

std::string file_of(const std::string& operation, const std::string&) { return "kernels/" + operation + ".cu"; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0, to = 0; (to = text.find('\n', from)) != std::string::npos; from = to + 1)
    lines.push_back(text.substr(from, to - from));
  return lines;
}

TEST(KernelChanges, StandFirstWithTheirFileAndFoldWhatFollowedIntoALine) {
  const Results before = of_kernels({{"norm", "two_stage"}, {"sgd", "grid_stride"}, {"decay.l2", "grid_stride"}});
  Results now = before;
  for (CaseRecord& c : now.cases) {
    c.operations[0].bits = "1";
    c.operations[1].bits = c.operations[1].inputs = c.operations[2].bits = c.operations[2].inputs = "2";
  }
  const auto lines = lines_of(comparison_text(compared(before, now), {file_of, false}));
  ASSERT_GE(lines.size(), 6u);
  EXPECT_EQ(lines[1], "  norm/two_stage  kernels/norm.cu");
  EXPECT_NE(lines[2].find("bits changed in 84 of 84 cases, 84 from equal inputs"), std::string::npos);
  EXPECT_NE(lines[2].find("accuracy the same: every error to the bit"), std::string::npos);
  EXPECT_EQ(lines[5], "and from that: 2 other kernels computed on other inputs, as accurately as before (--all)");
  EXPECT_EQ(lines.back(), "1 kernel changed (norm/two_stage), as accurate, no bound broken: bless or reject");
  const std::string all = comparison_text(compared(before, now), {file_of, true});
  EXPECT_NE(all.find("  sgd/grid_stride  kernels/sgd.cu"), std::string::npos);
}

TEST(KernelChanges, OfManyKernelsFitAScreenAndTheWorstStandsFirst) {
  std::vector<std::pair<std::string, std::string>> kernels;
  for (const char letter : std::string("abcdefghij")) kernels.emplace_back(std::string(1, letter), "v");
  const Results before = of_kernels(kernels);
  Results now = before;
  for (CaseRecord& c : now.cases) {
    for (OperationRecord& o : c.operations) o.bits = "1";
    if (c.precision == "bf16") c.operations[6].drift *= 2;
  }
  const auto lines = lines_of(comparison_text(compared(before, now), {file_of, false}));
  EXPECT_LE(lines.size(), 20u);
  EXPECT_EQ(lines[1], "  g/v  kernels/g.cu");
  EXPECT_NE(lines[2].find("  bf16, fp16, fp32  "), std::string::npos) << lines[2];
  EXPECT_NE(lines[2].find("accuracy worse: error 2x [2, 2] (bf16, the worst)"), std::string::npos) << lines[2];
  EXPECT_NE(comparison_text(compared(before, now), {file_of, false}).find("and 6 more kernels: --all"),
            std::string::npos);
  EXPECT_EQ(lines.back(), "10 kernels changed, less accurate (g/v), no bound broken: bless or reject");
}

/// Nobody can say of it whether it changed, as its inputs did everywhere.
TEST(KernelChanges, SayOfWhichKernelsAChangeCouldNotBeSeen) {
  const Results before = of_kernels({{"gelu.forward", "v"}, {"gelu.backward", "v"}, {"sgd", "v"}});
  Results now = before;
  for (CaseRecord& c : now.cases) {
    c.operations[0].bits = "1";
    c.operations[1].bits = c.operations[1].inputs = "2";
    if (c.seed % 2 == 0) c.operations[2].bits = c.operations[2].inputs = "2";
  }
  const auto file = [](const std::string& operation, const std::string&) { return operation.substr(0, 4) + ".cu"; };
  const std::string text = comparison_text(compared(before, now), {file, false});
  EXPECT_NE(text.find("as no case gave them equal inputs: gelu.backward/v\n"), std::string::npos) << text;
}

TEST(KernelChanges, AreOfAFusedPassWhereOneRan) {
  const Results before =
      of_kernels({{"clip_by_norm", "clip_decay_step/multi_tensor"}, {"sgd", "clip_decay_step/multi_tensor"}});
  Results now = before;
  for (CaseRecord& c : now.cases) c.operations[1].bits = "1";
  EXPECT_EQ(decision_text(compared(before, now)),
            "1 kernel changed (clip_decay_step/multi_tensor), as accurate, no bound broken: bless or reject");
  EXPECT_NE(comparison_text(compared(before, now), {file_of, false})
                .find("  clip_decay_step/multi_tensor  kernels/clip_decay_step.cu"),
            std::string::npos);
}

TEST(KernelChanges, PairTheVariantsOfACaseThatRanSeveral) {
  const Results before = of_kernels({{"norm", "atomic_add"}, {"norm", "two_stage"}});
  Results now = before;
  for (CaseRecord& c : now.cases) c.operations[1].bits = "1";
  const Comparison found = compared(before, now);
  const KernelChanges changes = kernel_changes_of(found);
  ASSERT_EQ(changes.own.size(), 1u);
  EXPECT_EQ(changes.own[0].name(), "norm/two_stage");
  EXPECT_EQ(changes.own[0].own(), 252u);
}

/// The bias is added after each of them: five names would hide the one file.
TEST(KernelChanges, NameNoProductWhereEveryOneChanged) {
  const Results before = of_kernels({{"linear.forward", "drawn_order"}, {"linear.forward", "sequential_fma"}});
  Results now = before;
  for (CaseRecord& c : now.cases) c.operations[0].bits = "1";
  EXPECT_NE(decision_text(compared(before, now)).find("(linear.forward/drawn_order)"), std::string::npos);
  for (CaseRecord& c : now.cases) c.operations[1].bits = "1";
  EXPECT_NE(decision_text(compared(before, now)).find("1 kernel changed (linear.forward), "), std::string::npos);
}

TEST(KernelChanges, AreNoneWhereAKernelNeedNotRepeatAndIsAsAccurate) {
  Results before = of_kernels({{"norm", "atomic_add"}});
  for (CaseRecord& c : before.cases) c.operations[0].repeats = false;
  Results now = before;
  for (CaseRecord& c : now.cases) c.operations[0].bits = "1";
  EXPECT_EQ(kernel_changes_of(compared(before, now)).own.size(), 1u) << "the host repeats every bit";
  now.ran_on_device = 1;
  const std::string text = comparison_text(compared(before, now), {file_of, false});
  EXPECT_NE(text.find("other bits of 1 kernel that need not repeat them, as accurate"), std::string::npos) << text;
  EXPECT_NE(text.find("no kernel's bits changed in "), std::string::npos);
}

}  // namespace
}  // namespace tally::kernel_changes_test
