#include "reports/gate/bless.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "reports/gate/gate.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::bless_test {
namespace {

namespace fs = std::filesystem;

class Bless : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("CI");
    fs::remove(file_);
  }
  void TearDown() override { fs::remove(file_); }
  std::string content() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string complaint(const Results& results, const BlessOptions& options) {
    const std::string before = content();
    try {
      bless(results, file_, options);
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(content(), before);
      return error.what();
    }
    return "";
  }
  static BlessOptions because(const std::string& reason) {
    BlessOptions options;
    options.reason = reason;
    return options;
  }
  /// Its own for every test: they run at the same time.
  std::string file_ =
      testing::TempDir() + "tally-" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
};

TEST_F(Bless, MakesTheGatePassAndTheSecondTimeChangesNothing) {
  EXPECT_EQ(bless(samples::passing(), file_, because("first run")).added, 254u);
  EXPECT_EQ(gate(samples::passing(), read_baseline(file_)).exit_code, 0);
  const std::string before = content();
  EXPECT_EQ(bless(samples::passing(), file_, because("nothing new came")).unchanged, 254u);
  EXPECT_EQ(content(), before);
}

TEST_F(Bless, WantsAReason) {
  EXPECT_NE(complaint(samples::passing(), because("")).find("empty reason"), std::string::npos);
  EXPECT_NE(complaint(samples::passing(), because(" \n")).find("empty reason"), std::string::npos);
}

TEST_F(Bless, IsForPeopleUnlessAllowed) {
  setenv("CI", "true", 1);
  EXPECT_NE(complaint(samples::passing(), because("two passes")).find("CI is set"), std::string::npos);
  BlessOptions options = because("two passes");
  options.allow_ci = true;
  EXPECT_EQ(complaint(samples::passing(), options), "");
  unsetenv("CI");
}

TEST_F(Bless, RefusesFailuresOfWhatItSelects) {
  EXPECT_NE(complaint(samples::failing(), because("two passes")).find("a failure cannot be blessed"),
            std::string::npos);
  EXPECT_NE(complaint(samples::partial(), because("two passes")).find("incomplete"), std::string::npos);
  Results results = samples::passing();
  results.faults[0].caught = false;
  EXPECT_NE(complaint(results, because("two passes")).find("was not caught"), std::string::npos);
  results = samples::passing();
  results.cases[0].worst_local_ratio = 2;
  EXPECT_NE(complaint(results, because("two passes")).find("a failure cannot be blessed"), std::string::npos);
  BlessOptions other = because("two passes");
  other.law = "part*";
  EXPECT_EQ(complaint(results, other), "");
}

TEST_F(Bless, LeavesAloneWhatItDoesNotSelect) {
  bless(samples::passing(), file_, because("first"));
  Results results = samples::passing();
  for (CaseRecord& c : results.cases) c.worst_local_ratio /= 2;
  BlessOptions options = because("half the error");
  options.law = "order", options.precision = "fp*";
  const BlessReport report = bless(results, file_, options);
  EXPECT_EQ(report.changed + report.unchanged, 56u);
  EXPECT_EQ(report.added + report.removed, 0u);
  const Baseline baseline = read_baseline(file_);
  for (const BlessedCase& c : baseline.cases)
    EXPECT_EQ(baseline.blessing(c.blessing).reason,
              c.law == "order" && c.precision != "bf16" && c.worst_ratio > 0 ? "half the error" : "first")
        << c.law << c.precision;
}

TEST_F(Bless, TagsCasesOfSeveralRanksAndHoldsTheTagAgainstNoDigest) {
  Results results = samples::passing();
  results.cases.front().title = "linear 4-2, 8 ranks, K = 2, sgd";
  bless(results, file_, because("first"));

  Baseline baseline = read_baseline(file_);

  EXPECT_EQ(std::ranges::count(baseline.cases, "ranks", &BlessedCase::tag), 1);
  EXPECT_EQ(std::ranges::count(baseline.cases, "", &BlessedCase::tag), std::ssize(baseline.cases) - 1);
  for (BlessedCase& c : baseline.cases) c.tag.clear();
  baseline_of_json(to_json(baseline));  // throws where a line does not fit itself
  EXPECT_EQ(bless(results, file_, because("the same numbers again")).changed, 0u);
}

TEST_F(Bless, RemovesWhatIsGoneAndKeepsOtherMachines) {
  Results elsewhere = samples::passing();
  elsewhere.environment.executor = "cuda";
  bless(elsewhere, file_, because("a GPU"));
  bless(samples::passing(), file_, because("first"));
  Results results = samples::passing();
  std::erase_if(results.cases, [](const CaseRecord& c) { return c.precision == "bf16"; });
  EXPECT_EQ(bless(results, file_, because("no bf16 any more")).removed, 84u);
  EXPECT_EQ(gate(results, read_baseline(file_)).exit_code, 0);
  EXPECT_EQ(gate(elsewhere, read_baseline(file_)).exit_code, 0);
}

TEST_F(Bless, RefusesAPatternThatMatchesNothing) {
  BlessOptions options = because("two passes");
  options.law = "no such law";
  EXPECT_NE(complaint(samples::passing(), options).find("nothing matches"), std::string::npos);
}

TEST_F(Bless, RefusesAReasonThatExplainsNothing) {
  for (const char* reason : {"update", "Update baseline.", "make CI green again", "rebaseline the tests"})
    EXPECT_NE(complaint(samples::passing(), because(reason)).find("explains nothing"), std::string::npos) << reason;
  for (const char* reason : {"one-pass variance", "update for the warp shuffle", "Größe der Blöcke"})
    EXPECT_EQ(complaint(samples::passing(), because(reason)), "") << reason;
}

TEST_F(Bless, TakesTheCasesThatAreNamedAlone) {
  bless(samples::passing(), file_, because("first"));
  Results results = samples::passing();
  for (CaseRecord& c : results.cases) c.operations[0].bits = "1";
  BlessOptions options = because("another order");
  options.cases = {results.cases[3].id, results.cases[4].id};
  EXPECT_EQ(bless(results, file_, options).changed, 2u);
  EXPECT_EQ(gate(results, read_baseline(file_)).comparison.equal, 2u);
  options.cases = {"no such case"};
  EXPECT_NE(complaint(results, options).find("nothing matches case 'no such case'"), std::string::npos);
}

TEST_F(Bless, PrunesWhatIsGoneAndNothingElse) {
  bless(samples::passing(), file_, because("first"));
  Results results = samples::passing();
  results.cases.resize(results.cases.size() - 5);
  results.cases[2].operations[0].bits = "1";
  EXPECT_EQ(prune(results, file_, {}).removed, 5u);
  const GateReport report = gate(results, read_baseline(file_));
  EXPECT_EQ(report.comparison.gone, 0u);
  EXPECT_EQ(report.exit_code, 1);  // the other bits are not blessed by it
  setenv("CI", "1", 1);
  EXPECT_THROW(prune(samples::passing(), file_, {}), std::runtime_error);
  unsetenv("CI");
}

TEST_F(Bless, TightensToWhatBecameBetterAlone) {
  bless(samples::passing(), file_, because("first"));
  Results results = samples::passing();
  results.cases[1].worst_local_ratio /= 2, results.cases[1].operations[0].drift /= 2;
  results.cases[2].worst_local_ratio /= 2, results.cases[2].operations[0].drift *= 2;
  results.cases[3].worst_local_ratio = 0.99;
  EXPECT_EQ(tighten(results, file_, because("Kahan sums")).changed, 1u);
  EXPECT_EQ(gate(results, read_baseline(file_)).comparison.equal, 250u);
  EXPECT_EQ(tighten(results, file_, because("Kahan sums")).changed, 0u);
}

}  // namespace
}  // namespace tally::bless_test
