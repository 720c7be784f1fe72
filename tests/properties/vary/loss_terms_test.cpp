#include <gtest/gtest.h>

#include "properties/diagnosis/vary/runs.hpp"
#include "properties/diagnosis/vary/vary_verdict.hpp"
#include "tests/properties/vary/small_loop.hpp"

namespace tally::loss_terms_test {
namespace {

using samples::judged;
using samples::loop_of;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

VaryPart part_of(const std::string& name, std::vector<double> found, std::vector<double> meant) {
  VaryPart part;
  part.name = name, part.place = {"train.py", "", 31}, part.found = std::move(found), part.meant = std::move(meant);
  return part;
}

/// Of a loop whose gradient is no sum of the micro-batches' own, with these terms in what 4, 4 rows weigh.
VaryReport report_of(const std::vector<VaryPart>& parts, double meant_rest = 0) {
  VaryRuns runs;
  judged(loop_of("signs before the last"), runs);
  for (VaryWeights& weights : runs.weights) weights.parts = parts, weights.meant_rest = meant_rest;
  return vary_verdict(runs);
}

const VaryPart right = part_of("nll_loss", {0.125, 0.125}, {0.125, 0.125}),
               means = part_of("kl_div", {0.125, 0.125}, {0.15, 0.1});

TEST(LossTerms, AreNamedWithWhatIsWrongInOneOfThem) {
  const VaryReport report = report_of({right, means});

  EXPECT_EQ(report.cause, "1/(K n_k)") << report.sentence();
  EXPECT_EQ(report.what,
            "kl_div at train.py:31, one of the loss's 2 terms, is wrong and the other is right: each "
            "micro-batch's loss is divided by its own items and by K = 2");
  EXPECT_EQ(report.place.line, 31);
  EXPECT_TRUE(has(report.numbers, "should weigh 0.15, 0.1")) << report.numbers;
  EXPECT_EQ(report_of({right, means}, 0.5).cause, "1/(K n_k)") << "the whole batch's gradient is no sum of them either";
  EXPECT_TRUE(
      has(report_of({right, right, means, means}).what, "is wrong, and so is kl_div at train.py:31 and the others"));
}

TEST(LossTerms, ThatReadNoRowCountAsOftenAsTheyAreAdded) {
  VaryPart constant = part_of("sum", {1, 1}, {0.5, 0.5});
  constant.no_row = true;
  const VaryReport report = report_of({right, constant});

  EXPECT_EQ(report.cause, "a term of no row");
  EXPECT_TRUE(has(report.what, "added with every micro-batch: it counts 2 times")) << report.what;
  EXPECT_FALSE(has(report.numbers, "a row weighs")) << report.numbers;
}

TEST(LossTerms, TellNothingWhereOneIsNoSumOrAllAreRight) {
  VaryPart open = means;
  open.meant_rest = 0.5;
  EXPECT_EQ(report_of({means, open}).cause, "no sum of the micro-batches");
  EXPECT_EQ(report_of({right, right}).cause, "no sum of the micro-batches");
}

}  // namespace
}  // namespace tally::loss_terms_test
