#include "reports/gate/gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "reports/text/text.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::gate_test {
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
  EXPECT_TRUE(finds(report, "teeth", "not caught"));
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
  const GateReport report = gate(results, blessed());
  EXPECT_EQ(report.exit_code, 5);
  EXPECT_NE(gate_text(report).find("252 cases of another campaign, seed or effort: not compared"), std::string::npos);
}

/// The passing sample as kernels left it that need not repeat, with their drifts times `factor` in one precision.
Results varying(double factor, const std::string& precision) {
  Results results = samples::passing();
  results.ran_on_device = 1;
  for (CaseRecord& c : results.cases) {
    OperationRecord& accumulate = c.operations.front();
    accumulate.repeats = false;
    accumulate.drift = 0.5 + static_cast<double>(c.seed % 7) / 100;
    if (c.precision != precision) continue;
    accumulate.drift *= factor, accumulate.bits += "b";
    if (c.worst_local_ratio > 0) c.worst_local_ratio /= 2;
  }
  return results;
}

TEST(Gate, TellsOfOtherBitsWhereKernelsNeedNotRepeat) {
  const GateReport report = gate(varying(1, "bf16"), baseline_of(varying(1, "none")));
  EXPECT_EQ(report.exit_code, 0) << gate_text(report);
  EXPECT_NE(findings_text(report).find("these kernels need not repeat"), std::string::npos);
}

/// On the host equal inputs give equal bits whatever a kernel claims: there a change of atomics shows.
TEST(Gate, NamesAKernelOnTheHostThatNeedNotRepeat) {
  Results before = varying(1, "none"), now = varying(1, "bf16");
  before.ran_on_device = now.ran_on_device = 0;
  const GateReport report = gate(now, baseline_of(before));
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_NE(gate_text(report).find("1 kernel changed (accumulate/grid_stride)"), std::string::npos);
}

TEST(Gate, FailsWhereErrorsOfAKernelThatNeedNotRepeatHaveGrown) {
  const GateReport report = gate(varying(1.2, "bf16"), baseline_of(varying(1, "none")));
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_TRUE(finds(report, "drift", "error 1.2x [1.2, 1.2] worse"));
  EXPECT_EQ(gate(varying(1 / 1.2, "bf16"), baseline_of(varying(1, "none"))).exit_code, 0);
}

TEST(Gate, LeavesAFewCasesUndecided) {
  Results before = varying(1, "none"), now = varying(1.2, "bf16");
  for (Results* results : {&before, &now})
    std::erase_if(results->cases, [](const CaseRecord& c) { return c.precision != "bf16" || c.seed % 40 != 0; });
  const GateReport report = gate(now, baseline_of(before));
  EXPECT_EQ(report.exit_code, 0) << gate_text(report);
  EXPECT_NE(findings_text(report).find("? undecided  drift  accumulate/grid_stride, bf16"), std::string::npos);
  EXPECT_NE(gate_text(report).find("accuracy undecided in 1"), std::string::npos) << gate_text(report);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0, to = 0; (to = text.find('\n', from)) != std::string::npos; from = to + 1)
    lines.push_back(text.substr(from, to - from));
  return lines;
}

TEST(Gate, SaysInTwentyLinesWhatThereIsToDecide) {
  Results results = samples::passing();
  for (CaseRecord& c : results.cases) c.operations[0].bits = "1";
  const auto lines = lines_of(gate_text(gate(results, blessed())));
  ASSERT_LE(lines.size(), 20u);
  EXPECT_EQ(lines[0], "Kernels that changed");
  EXPECT_EQ(lines[1], "  accumulate/grid_stride");
  EXPECT_EQ(lines.back(),
            "FAIL  1 kernel changed (accumulate/grid_stride), as accurate, no bound broken: bless or reject");
  EXPECT_GT(lines_of(gate_text(gate(results, blessed()), {{{}, true}, ""})).size(), lines.size());
  EXPECT_EQ(
      gate_text(gate(samples::passing(), blessed())),
      "PASS  no kernel's bits changed in " + counted(samples::passing().cases.size(), "case") + ", no bound broken\n");
}

TEST(Gate, CountsWhatBreaksAndTellsTheFirstOfIt) {
  Results results = samples::passing();
  for (std::size_t i = 0; i < 50; ++i)
    results.cases[i].status = Status::fail, results.cases[i].message = "4 times its bound";
  const std::string text = gate_text(gate(results, blessed()));
  EXPECT_LE(lines_of(text).size(), 20u) << text;
  EXPECT_NE(text.find("Broken: 50 cases of 1 law\n"), std::string::npos) << text;
  EXPECT_NE(text.find("[c-000000000001]: 4 times its bound"), std::string::npos) << text;
  EXPECT_NE(text.find("and 47 more: --all"), std::string::npos) << text;
  EXPECT_EQ(lines_of(text).back(), "FAIL  no kernel's bits changed in " + counted(results.cases.size(), "case") +
                                       ", 50 cases break their laws: reject");
}

/// A search that is steered by what it finds draws other cases, as many, where a kernel changed.
TEST(Gate, DoesNotCallCasesGoneForWhichOthersWereDrawn) {
  Results results = samples::passing();
  for (std::size_t i = 0; i < 7; ++i) results.cases[i].id = "moved" + std::to_string(i);
  const GateReport report = gate(results, blessed());
  EXPECT_EQ(report.exit_code, 5) << gate_text(report);
  EXPECT_FALSE(finds(report, "coverage", "gone"));
  EXPECT_NE(gate_text(report).find("7 cases drawn differently"), std::string::npos) << gate_text(report);
  results.cases.pop_back();
  EXPECT_TRUE(finds(gate(results, blessed()), "coverage", "1 case blessed before, gone now"));
}

TEST(Gate, SaysWhereResultsChangedAndNoKernelDid) {
  Results results = samples::passing();
  results.cases[1].worst_local_ratio /= 2;
  const std::string text = gate_text(gate(results, blessed()));
  EXPECT_NE(text.find(", no bound broken, 1 case judged otherwise: bless or reject"), std::string::npos) << text;
}

TEST(Gate, NamesTheKernelWhoseBitsChangedFromEqualInputs) {
  Results results = samples::passing();
  results.cases[5].operations[0].bits = "0123";
  results.cases[5].operations[1].inputs = results.cases[5].operations[1].bits = "4567";
  const GateReport report = gate(results, blessed());
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_TRUE(finds(report, "drift", "bits of 1 of 84 cases changed, 1 from equal inputs"));
  EXPECT_FALSE(finds(report, "drift", "0 from equal inputs"));
}

TEST(Gate, FailsWhenACaseHasBecomeVacuousOrWasNotRun) {
  for (const auto& [status, message] : {std::pair{Status::vacuous, "passed when blessed, vacuous now"},
                                        std::pair{Status::not_run, "blessed before and not run now"}}) {
    Results results = samples::passing();
    results.cases[5].status = status;
    EXPECT_TRUE(finds(gate(results, blessed()), "coverage", message));
  }
}

Waiver waiver_of(const std::string& law, const std::string& expires) {
  return {law, "*", "*", "known", "https://example.org/7", expires, 3};
}

TEST(Gate, LetsAWaivedFailurePassUntilItsDay) {
  Results results = samples::passing();
  results.cases[5].status = Status::fail, results.laws[0].status = Status::fail, results.laws[0].failed = 1;
  GateContext context{{waiver_of(results.cases[5].law, "2027-03-31")}, "2027-03-31"};
  EXPECT_EQ(gate(results, baseline_of(results), context).exit_code, 0);
  context.today = "2027-04-01";
  const GateReport expired = gate(results, baseline_of(results), context);
  EXPECT_TRUE(finds(expired, "waivers", "expired on 2027-03-31: known"));
  EXPECT_TRUE(finds(expired, "bound", "fail"));
}

TEST(Gate, FailsForAWaiverOfWhatPasses) {
  const GateContext context{{waiver_of("order", "2027-03-31")}, "2026-01-01"};
  EXPECT_TRUE(finds(gate(samples::passing(), blessed(), context), "waivers", "nothing that it covers fails any more"));
}

TEST(Gate, FailsWhenSomethingBlessedIsGone) {
  Results results = samples::passing();
  std::erase_if(results.cases, [](const CaseRecord& c) { return c.law == "order" && c.precision == "bf16"; });
  EXPECT_TRUE(finds(gate(results, blessed()), "coverage", "28 cases blessed before, gone now"));
  results = samples::passing();
  results.cases.pop_back();
  const GateReport report = gate(results, blessed());
  EXPECT_TRUE(finds(report, "coverage", "1 case blessed before, gone now"));
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
  EXPECT_NE(gate_text(report).find("252 cases of other machines"), std::string::npos);
}

TEST(Gate, HasItsOwnCodeForNothingRunAndFailsAPartialRun) {
  EXPECT_EQ(gate(samples::empty(), Baseline{}).exit_code, 4);
  EXPECT_EQ(gate(samples::partial(), blessed()).exit_code, 1);
}

TEST(Baseline, IsRefusedWhereALineWasEditedByHand) {
  Baseline baseline = blessed();
  const auto complaint = [&baseline] {
    try {
      baseline_of_json(to_json(baseline));
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(complaint(), "");
  baseline.cases[3].worst_ratio /= 2;
  EXPECT_NE(complaint().find("$.cases[3].digest: found "), std::string::npos);
  baseline = blessed(), baseline.blessings[0].reason = "another";
  EXPECT_NE(complaint().find("$.blessings[0].key: found "), std::string::npos);
  baseline = blessed(), baseline.cases[3] = baseline.cases[2];
  EXPECT_NE(complaint().find("$.cases[3].id: found "), std::string::npos);
  std::string json = to_json(blessed());
  json.replace(json.find("\"worst_ratio_bits\": \"0x1"), 23, "\"worst_ratio_bits\": \"0x3");
  EXPECT_THROW(baseline_of_json(json), std::runtime_error);
}

TEST(Baseline, ComesBackAsItWasWrittenAndIsRefusedWhenDamaged) {
  const std::string json = to_json(blessed());
  EXPECT_EQ(to_json(baseline_of_json(json)), json);
  EXPECT_THROW(baseline_of_json(json.substr(0, json.size() / 2)), std::runtime_error);
  EXPECT_THROW(baseline_of_json("{\"schema\": 1}"), std::runtime_error);
  EXPECT_THROW(read_baseline("/nonexistent/baseline.json"), std::runtime_error);
  EXPECT_EQ(static_cast<std::size_t>(std::count(json.begin(), json.end(), '\n')), 1u + 252 + 2 + 9);  // a case a line
}

}  // namespace
}  // namespace tally::gate_test
