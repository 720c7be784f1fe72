#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "reports/gate/bless.hpp"
#include "reports/gate/gate.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::pending_test {
namespace {

namespace fs = std::filesystem;

class Pending : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("CI");
    fs::remove(file_);
    because_.reason = "another order of additions";
  }
  void TearDown() override { fs::remove(file_); }
  std::string complaint(const Baseline& pending, const BlessOptions& options) const {
    try {
      bless_pending(pending, file_, options);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }
  /// The passing sample with another drift in every third case.
  static Results drifted() {
    Results results = samples::passing();
    for (std::size_t i = 0; i < results.cases.size(); i += 3) results.cases[i].rounding_drift *= 2;
    return results;
  }
  BlessOptions because_;
  std::string file_ =
      testing::TempDir() + "tally-" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
};

TEST_F(Pending, BlessedAloneGivesTheBaselineThatTheResultsWould) {
  BlessOptions first = because_;
  first.reason = "first run", first.commit = "77aa01b";
  bless(samples::passing(), file_, first);
  const Baseline kept = read_baseline(file_);
  EXPECT_TRUE(pending_of(samples::passing(), kept, "c0ffee").cases.empty());
  const Baseline pending = baseline_of_json(to_json(pending_of(drifted(), kept, "c0ffee")));
  BlessOptions same = because_;
  same.commit = "c0ffee";
  bless(drifted(), file_, same);
  const std::string by_results = to_json(read_baseline(file_));
  write_atomically(file_, to_json(kept));

  const BlessReport report = bless_pending(pending, file_, because_);

  EXPECT_EQ(report.changed, pending.cases.size());
  EXPECT_EQ(report.added + report.removed, 0u);
  EXPECT_EQ(to_json(read_baseline(file_)), by_results);
  EXPECT_EQ(gate(drifted(), read_baseline(file_)).exit_code, 0);
}

TEST_F(Pending, HasOldValuesOfTheSameMachineAndDrawAlone) {
  BlessOptions first = because_;
  first.reason = "first run", first.commit = "77aa01b";
  bless(samples::passing(), file_, first);
  const Baseline kept = read_baseline(file_);
  const Baseline pending = pending_of(drifted(), kept, "c0ffee");
  const auto before = before_pending(pending, kept);
  ASSERT_EQ(before.size(), pending.cases.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(before[i].same_place(pending.cases[i]));
    EXPECT_EQ(2 * before[i].rounding_drift, pending.cases[i].rounding_drift);
  }
  Results elsewhere = drifted(), other_draw = drifted();
  elsewhere.environment.device = "another", ++other_draw.seed;
  EXPECT_TRUE(before_pending(pending_of(elsewhere, kept, ""), kept).empty());
  EXPECT_TRUE(before_pending(pending_of(other_draw, kept, ""), kept).empty());
  EXPECT_TRUE(before_pending({}, kept).empty());
}

/// What the gate calls drawn differently is settled by one bless: the new cases come, those that they stand for go.
TEST_F(Pending, TakesOutTheCasesThatOthersStandFor) {
  BlessOptions first = because_;
  first.reason = "first run";
  bless(samples::passing(), file_, first);
  Results moved = samples::passing();
  for (std::size_t i = 0; i < 7; ++i) moved.cases[i].id = "moved" + std::to_string(i);
  const Baseline pending = baseline_of_json(to_json(pending_of(moved, read_baseline(file_), "c0ffee")));
  EXPECT_EQ(pending.replaced.size(), 7u);

  const BlessReport report = bless_pending(pending, file_, because_);

  EXPECT_EQ(report.added, 7u);
  EXPECT_EQ(report.removed, 7u);
  EXPECT_EQ(gate(moved, read_baseline(file_)).exit_code, 0);
  Baseline baseline = read_baseline(file_);
  baseline.replaced = pending.replaced;
  EXPECT_THROW(baseline_of_json(to_json(baseline)), std::runtime_error);
}

TEST_F(Pending, LeavesWhatIsGoneWithoutAnotherInItsPlace) {
  BlessOptions first = because_;
  first.reason = "first run";
  bless(samples::passing(), file_, first);
  Results fewer = samples::passing();
  fewer.cases.erase(fewer.cases.begin(), fewer.cases.begin() + 3);
  fewer.cases[0].id = "moved";
  EXPECT_TRUE(pending_of(fewer, read_baseline(file_), "").replaced.empty());
}

TEST_F(Pending, HoldsEverythingWhereNothingWasBlessed) {
  const Baseline pending = pending_of(samples::passing(), {}, "c0ffee");
  EXPECT_EQ(bless_pending(pending, file_, because_).added, pending.cases.size() + pending.faults.size());
  EXPECT_EQ(gate(samples::passing(), read_baseline(file_)).exit_code, 0);
  EXPECT_EQ(read_baseline(file_).blessings.at(0).commit, "c0ffee");
}

TEST_F(Pending, TakesFiltersAndSaysWhereNothingMatches) {
  const Baseline pending = pending_of(samples::passing(), {}, "");
  because_.precision = "bf16";
  bless_pending(pending, file_, because_);
  const Baseline kept = read_baseline(file_);
  EXPECT_FALSE(kept.cases.empty());
  EXPECT_TRUE(kept.faults.empty());
  for (const BlessedCase& c : kept.cases) EXPECT_EQ(c.precision, "bf16");
  because_.precision = "fp8";
  EXPECT_NE(complaint(pending, because_).find("nothing that is pending matches"), std::string::npos);
}

TEST_F(Pending, HoldsNothingOfARunThatFailedOrIsIncomplete) {
  EXPECT_TRUE(pending_of(samples::failing(), {}, "").cases.empty());
  Results results = samples::passing();
  results.partial = true;
  EXPECT_TRUE(pending_of(results, {}, "").cases.empty());
}

TEST_F(Pending, IsRefusedWithoutAReasonInCiAndWhereItIsNone) {
  const Baseline pending = pending_of(samples::passing(), {}, "");
  EXPECT_NE(complaint(pending, {}).find("empty reason"), std::string::npos);
  setenv("CI", "true", 1);
  EXPECT_NE(complaint(pending, because_).find("CI is set"), std::string::npos);
  unsetenv("CI");
  Baseline over = pending;
  over.cases.front().worst_ratio = 1.5;
  EXPECT_NE(complaint(over, because_).find("a failure cannot be blessed"), std::string::npos);
  bless_pending(pending, file_, because_);
  EXPECT_NE(complaint(read_baseline(file_), because_).find("found a baseline"), std::string::npos);
  EXPECT_TRUE(is_pending(file_));
  write_atomically(file_, to_json(samples::passing()));
  EXPECT_FALSE(is_pending(file_));
}

}  // namespace
}  // namespace tally::pending_test
