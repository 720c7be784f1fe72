#include <gtest/gtest.h>

#include <set>

#include "oracle/case/io.hpp"
#include "properties/faults/fault.hpp"
#include "properties/lab/evidence/case_strata.hpp"
#include "properties/lab/evidence/cases.hpp"

namespace tally::clean_case_test {
namespace {

constexpr std::uint64_t seed = 11;

Strata strata_of_case(std::uint64_t number, const RunOptions& on) {
  const CleanCase made = clean_case(seed, number, on);
  return strata_of(made.c, made.run, evidence_run(made.c, made.run), number);
}

TEST(CleanCases, AreAFunctionOfSeedAndNumberAlone) {
  const CleanCase first = clean_case(seed, 5, {}), again = clean_case(seed, 5, {});

  EXPECT_EQ(hash_of(first.c), hash_of(again.c));
  EXPECT_EQ(first.run.subject.order_seed, again.run.subject.order_seed);
  EXPECT_NE(hash_of(first.c), hash_of(clean_case(seed, 8, {}).c));
  EXPECT_NE(hash_of(first.c), hash_of(clean_case(seed + 1, 5, {}).c));
}

TEST(CleanCases, AreValidAndReachEveryPrecisionNormalisationAndOrder) {
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < 150; ++i) {
    const CleanCase made = clean_case(seed, i, {});
    EXPECT_TRUE(validate(made.c).empty()) << i;
    seen.insert(std::string(name_of(made.c.precision.storage)));
    seen.insert(std::string(name_of(made.c.normalisation)));
    seen.insert(made.run.subject.order_seed == 0 ? "sequential" : "drawn");
    seen.insert(made.run.subject.schedule_seed == 0 ? "threads in order" : "threads drawn");
  }
  for (const char* word : {"fp32", "fp16", "bf16", "window_items", "mean_of_means", "mean_of_means_configured", "sum",
                           "sequential", "drawn", "threads in order", "threads drawn"}) {
    EXPECT_TRUE(seen.contains(word)) << word;
  }
}

TEST(CleanCases, RaiseNoAlarmAndLeaveADistributionOfR) {
  Strata strata;
  for (std::uint64_t i = 0; i < 30; ++i) strata.merge(strata_of_case(i, {}));

  const Stratum all = strata.sum({"all"});
  EXPECT_EQ(all.cases, 30u);
  EXPECT_EQ(all.alarms, 0u);
  EXPECT_EQ(all.not_run, 0u);
  EXPECT_GT(all.ratios.count(), 1000u);
  EXPECT_TRUE(strata.next({"alarm"}).empty());
  EXPECT_EQ(strata.sum({"precision", "local"}).checks + strata.sum({"precision", "end_to_end"}).checks, all.checks);
}

TEST(CleanCases, RaiseAlarmsUnderASeededFaultThatNameItsStage) {
  RunOptions faulty;
  faulty.stages = &find_fault("sum-not-mean")->stages();
  Strata strata;
  for (std::uint64_t i = 0; i < 6; ++i) strata.merge(strata_of_case(i, faulty));

  EXPECT_GT(strata.sum({"all"}).alarmed, 0u);
  EXPECT_FALSE(strata.next({"alarm", "clean cases", "local"}).empty());
  EXPECT_GT(strata.sum({"stage", "local"}).worst, 1);
}

}  // namespace
}  // namespace tally::clean_case_test
