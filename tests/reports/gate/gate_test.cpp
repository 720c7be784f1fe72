#include "reports/gate/gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tests/reports/samples/samples.hpp"

namespace tally {
namespace {

Baseline blessed() { return baseline_of(samples::passing()); }

bool finds(const GateReport& report, const std::string& gate_name, const std::string& message) {
  return std::any_of(report.findings.begin(), report.findings.end(), [&](const GateFinding& f) {
    return f.kind == GateFinding::Kind::failed && f.gate == gate_name && f.message.find(message) != std::string::npos;
  });
}

TEST(Gate, PassesWhatWasBlessed) {
  const GateReport report = gate(samples::passing(), blessed());
  EXPECT_EQ(report.exit_code, 0) << gate_text(report);
  EXPECT_TRUE(report.findings.empty());
}

TEST(Gate, FailsForABrokenLawWhateverTheBaselineSays) {
  const Results results = samples::failing();
  const GateReport report = gate(results, baseline_of(results));
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_TRUE(finds(report, "bound", "3.88 times its bound"));
  EXPECT_TRUE(finds(report, "bound", "its control does not differ"));
  EXPECT_TRUE(finds(report, "teeth", "got away"));
}

TEST(Gate, DoesNotBelieveAPassOutsideItsBound) {
  for (const double ratio : {1.5, std::nan("")}) {
    Results results = samples::passing();
    results.cases[3].worst_local_ratio = ratio;
    const GateReport report = gate(results, baseline_of(results));
    EXPECT_EQ(report.exit_code, 1);
    EXPECT_TRUE(finds(report, "bound", "called a pass"));
  }
}

TEST(Gate, SeesTheLastBitOfAnyRatioChange) {
  Results results = samples::passing();
  for (const std::size_t i : {std::size_t{1}, results.cases.size() - 1}) {
    Results changed = results;
    double& ratio = changed.cases[i].worst_local_ratio;
    ratio = std::nextafter(ratio, 0.0);
    const GateReport report = gate(changed, blessed());
    EXPECT_EQ(report.exit_code, 1);
    EXPECT_TRUE(finds(report, "drift", ""));
  }
}

TEST(Gate, DoesNotCareForTheOrderOfTheCases) {
  Results results = samples::passing();
  std::reverse(results.cases.begin(), results.cases.end());
  EXPECT_EQ(gate(results, blessed()).exit_code, 0);
}

TEST(Gate, ComparesOnlyTheSameDraw) {
  Results results = samples::passing();
  results.seed = 2;
  results.cases[1].worst_local_ratio /= 2;
  EXPECT_EQ(gate(results, blessed()).exit_code, 0);
}

TEST(Gate, OnlyTellsOfDriftOnADevice) {
  Results results = samples::passing();
  results.ran_on_device = 1;
  results.cases[1].worst_local_ratio /= 2;
  const GateReport report = gate(results, blessed());
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_EQ(report.findings.size(), 1u);
}

TEST(Gate, FailsWhenSomethingBlessedIsGone) {
  Results results = samples::passing();
  std::erase_if(results.cases, [](const CaseRecord& c) { return c.law == "order" && c.precision == "bf16"; });
  EXPECT_TRUE(finds(gate(results, blessed()), "coverage", "no case passed now"));
  results = samples::passing();
  results.cases.pop_back();
  const GateReport report = gate(results, blessed());
  EXPECT_TRUE(finds(report, "coverage", "28 cases blessed, 27 now"));
  EXPECT_EQ(report.exit_code, 1);
}

TEST(Gate, FailsWhenACaughtFaultIsNoLongerCaughtOrTried) {
  Results results = samples::passing();
  results.faults[0].caught = false;
  EXPECT_TRUE(finds(gate(results, blessed()), "teeth", "was caught by partition"));
  results.faults.clear();
  EXPECT_EQ(gate(results, blessed()).exit_code, 1);
}

TEST(Gate, HasItsOwnCodeForNothingButNewCases) {
  EXPECT_EQ(gate(samples::passing(), Baseline{}).exit_code, 5);
  Results foreign = samples::passing();
  foreign.environment.compiler = "another";
  const GateReport report = gate(foreign, blessed());
  EXPECT_EQ(report.exit_code, 5);
  EXPECT_NE(gate_text(report).find("9 groups of other machines"), std::string::npos);
}

TEST(Gate, HasItsOwnCodeForNothingRunAndFailsAPartialRun) {
  EXPECT_EQ(gate(samples::empty(), Baseline{}).exit_code, 4);
  EXPECT_EQ(gate(samples::partial(), blessed()).exit_code, 1);
}

TEST(Baseline, ComesBackAsItWasWrittenAndIsRefusedWhenDamaged) {
  const std::string json = to_json(blessed());
  EXPECT_EQ(to_json(baseline_of_json(json)), json);
  EXPECT_THROW(baseline_of_json(json.substr(0, json.size() / 2)), std::runtime_error);
  EXPECT_THROW(baseline_of_json("{\"schema\": 9}"), std::runtime_error);
  EXPECT_THROW(read_baseline("/nonexistent/baseline.json"), std::runtime_error);
  EXPECT_EQ(static_cast<std::size_t>(std::count(json.begin(), json.end(), '\n')), 9u + 2 + 7);  // one group a line
}

}  // namespace
}  // namespace tally
