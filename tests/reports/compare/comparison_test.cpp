#include "reports/compare/comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "reports/text/text.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::comparison_test {
namespace {

Comparison with(const Results& now) { return compared(entries_of(samples::passing()), entries_of(now)); }

const OperationChange& accumulate_of(const Comparison& comparison, const std::string& precision) {
  return *std::find_if(comparison.operations.begin(), comparison.operations.end(), [&](const OperationChange& change) {
    return change.operation == "accumulate" && change.precision == precision;
  });
}

TEST(Comparison, FindsNothingBetweenARunAndItself) {
  const Comparison found = with(samples::passing());
  EXPECT_EQ(found.cases, 252u);
  EXPECT_EQ(found.equal, 252u);
  EXPECT_EQ(found.gone + found.fresh + found.broken, 0u);
  EXPECT_EQ(found.laws.size(), 9u);
  EXPECT_EQ(found.operations.size(), 6u);
  for (const OperationChange& change : found.operations) EXPECT_EQ(bits_text(change), "bits equal");
}

TEST(Comparison, TellsAChangeOfOrderFromOneOfAccuracyAndOneOfInputs) {
  Results now = samples::passing();
  for (CaseRecord& c : now.cases) {
    OperationRecord& accumulate = c.operations[0];
    if (c.precision == "fp32") accumulate.bits = "1";
    if (c.precision == "fp16") accumulate.bits = "1", accumulate.drift *= 1.5;
    if (c.precision == "bf16") accumulate.bits = accumulate.inputs = "1";
  }
  const Comparison found = with(now);
  EXPECT_EQ(found.equal, 0u);
  EXPECT_EQ(bits_text(accumulate_of(found, "fp32")), "bits changed, accuracy the same");
  EXPECT_EQ(bits_text(accumulate_of(found, "fp16")), "bits changed");
  EXPECT_EQ(accumulate_of(found, "fp16").accuracy.verdict, AccuracyVerdict::worse);
  EXPECT_EQ(bits_text(accumulate_of(found, "bf16")), "inputs changed");
  EXPECT_EQ(accumulate_of(found, "bf16").own, 0u);
}

TEST(Comparison, KeepsVariantsApart) {
  Results before = samples::passing();
  for (std::size_t i = 0; i < before.cases.size(); ++i) {
    before.cases[i].operations[0].variant = i % 2 == 0 ? "touched" : "untouched";
  }
  Results now = before;
  for (CaseRecord& c : now.cases) {
    OperationRecord& operation = c.operations[0];
    if (operation.variant == "touched") operation.bits = "1", operation.drift *= 1.5;
  }
  const Comparison found = compared(entries_of(before), entries_of(now));
  for (const OperationChange& change : found.operations) {
    EXPECT_EQ(change.own > 0, change.variant_now == "touched") << change.operation << " " << change.precision;
    EXPECT_EQ(change.accuracy.verdict == AccuracyVerdict::worse, change.variant_now == "touched");
  }
  EXPECT_EQ(decision_text(found),
            "1 kernel changed (accumulate/touched), less accurate, no bound broken: bless or reject");
}

/// The samples' kernel, and one that reads numbers of it which no tap holds.
Results with_a_reader() {
  Results results = samples::passing();
  for (CaseRecord& c : results.cases) {
    c.operations.push_back(c.operations[0]);
    c.operations.back().operation = "reader", c.operations.back().variant = "one";
    if (c.precision == "fp16") c.operations.back().unseen = c.operations[0].operation;
  }
  return results;
}

TEST(Comparison, LeavesOpenWhatReadUnseenNumbersOfAChangedKernel) {
  const Results before = with_a_reader();
  Results now = before;
  for (CaseRecord& c : now.cases) {
    if (c.precision == "fp32") c.operations[0].bits = "1";
    if (c.precision == "fp16") c.operations.back().bits = "1";
  }
  const std::string variant = before.cases[0].operations[0].variant;
  const std::string because = "1 kernel changed (accumulate/" + variant + "), as accurate, no bound broken: ";
  EXPECT_EQ(decision_text(compared(entries_of(before), entries_of(now))), because + "bless or reject");

  Results alone = before;
  for (CaseRecord& c : alone.cases)
    if (c.precision == "fp16") c.operations.back().bits = "1";
  EXPECT_EQ(decision_text(compared(entries_of(before), entries_of(alone))),
            "1 kernel changed (reader/one), as accurate, no bound broken: bless or reject");
}

TEST(Comparison, SaysInASentenceWhatThereIsToDecide) {
  EXPECT_EQ(decision_text(with(samples::passing())),
            "no kernel's bits changed in " + counted(samples::passing().cases.size(), "case") + ", no bound broken");
  Results now = samples::passing();
  for (CaseRecord& c : now.cases) c.operations[0].bits = "1";
  const std::string variant = now.cases[0].operations[0].variant;
  EXPECT_EQ(decision_text(with(now)),
            "1 kernel changed (accumulate/" + variant + "), as accurate, no bound broken: bless or reject");
  now.cases[3].status = Status::fail;
  EXPECT_EQ(decision_text(with(now)),
            "1 kernel changed (accumulate/" + variant + "), as accurate, 1 case breaks its law: reject");
}

TEST(Comparison, ComparesWithOlderResultsThatKnowNoOperations) {
  Results older = samples::passing();
  for (CaseRecord& c : older.cases) c.operations.clear();
  const Comparison found = compared(entries_of(older), entries_of(samples::passing()));
  EXPECT_EQ(found.equal, 252u);
  EXPECT_TRUE(found.operations.empty());
  older.cases[0].rounding_drift = 1;
  EXPECT_EQ(compared(entries_of(older), entries_of(samples::passing())).equal, 251u);
}

TEST(Comparison, CountsWhatIsGoneNewBrokenAndMended) {
  Results now = samples::passing();
  now.cases.erase(now.cases.begin());
  now.cases[0].id = "another", now.cases[3].status = Status::fail;
  const Comparison found = with(now);
  EXPECT_EQ(found.gone, 2u);
  EXPECT_EQ(found.fresh, 1u);
  EXPECT_EQ(found.broken, 1u);
  const Comparison back = compared(entries_of(now), entries_of(samples::passing()));
  EXPECT_EQ(std::count_if(back.laws.begin(), back.laws.end(), [](const LawChange& law) { return law.mended == 1; }), 1);
}

TEST(Comparison, IsWrittenForTerminalsAndForPullRequests) {
  Results now = samples::passing();
  for (CaseRecord& c : now.cases) c.operations[0].bits = "1", c.operations[0].drift *= 1.5, c.law += "|<b>";
  const Comparison found = compared(entries_of(now), entries_of(now));
  EXPECT_NE(comparison_text(found, {}).find("bits equal in all 252 cases"), std::string::npos);
  Results before = now;
  for (CaseRecord& c : before.cases) c.operations[0].bits = "2", c.operations[0].drift /= 1.5;
  const Comparison changed = compared(entries_of(before), entries_of(now));
  EXPECT_NE(comparison_text(changed, {}).find("accumulate"), std::string::npos);
  const std::string page = comparison_markdown(changed);
  EXPECT_NE(page.find("| accumulate/grid\\_stride |"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_LE(comparison_markdown(changed, 500).size(), 500u);
  EXPECT_NE(comparison_markdown(changed, 500).find("left out"), std::string::npos);
}

}  // namespace
}  // namespace tally::comparison_test
