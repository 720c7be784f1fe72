#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "oracle/case/io.hpp"
#include "oracle/tolerance/declared.hpp"
#include "properties/faults/fault.hpp"
#include "properties/lab/evidence/cases.hpp"
#include "properties/lab/evidence/tables.hpp"

namespace tally::ordinary_case_test {
namespace {

constexpr std::uint64_t seed = 11;

TEST(OrdinaryNetworks, AreAFunctionOfSeedAndNumberAlone) {
  EXPECT_EQ(hash_of(ordinary_case(seed, 4).c), hash_of(ordinary_case(seed, 4).c));
  EXPECT_NE(hash_of(ordinary_case(seed, 4).c), hash_of(ordinary_case(seed, 10).c));
  EXPECT_NE(hash_of(ordinary_case(seed, 4).c), hash_of(ordinary_case(seed + 1, 4).c));
}

TEST(OrdinaryNetworks, ComeInTheSizesThatThePageSays) {
  std::map<std::string, int> sizes;
  for (std::uint64_t i = 0; i < 50; ++i) ++sizes[ordinary_case(seed, i).size];

  EXPECT_EQ(
      sizes,
      (std::map<std::string, int>{
          {"small, 10 to 64", 31}, {"medium, 96 to 256", 13}, {"large, 300 to 512", 4}, {"true, 10^5 to 10^6", 2}}));
}

TEST(OrdinaryNetworks, RaiseNoAlarmAndNoneIsRefused) {
  Strata strata;
  for (const std::uint64_t i : {0, 3, 6, 12, 18, 24}) {
    const OrdinaryCase made = ordinary_case(seed, i);
    strata.merge(ordinary_strata_of(made, evidence_run(made.c, {}), i));
  }
  const Stratum all = strata.sum({"ordinary", "all"});
  EXPECT_EQ(all.cases, 6u);
  EXPECT_EQ(all.alarmed, 0u);
  EXPECT_EQ(all.refused, 0u);
  EXPECT_EQ(all.not_run, 0u);
  EXPECT_GT(all.ratios.count(), 1000u);
  EXPECT_EQ(strata.sum({"ordinary", "structure"}).checks, all.checks);
}

TEST(OrdinaryNetworks, RaiseAlarmsUnderASeededFault) {
  RunOptions faulty;
  faulty.stages = &find_fault("sum-not-mean")->stages();
  const OrdinaryCase made = ordinary_case(seed, 4);
  const Strata strata = ordinary_strata_of(made, evidence_run(made.c, {faulty, {}}), 4);

  EXPECT_EQ(strata.sum({"ordinary", "all"}).alarmed, 1u);
  EXPECT_FALSE(strata.next({"alarm", "ordinary networks", "local"}).empty());
}

TEST(TestedAssumptions, AreOfTheLedgerAndCoverEveryStratum) {
  std::set<std::string> ledger, strata{"size"}, tested;
  for (const auto& [name, text] : oracle::ledger({}, {})) ledger.insert(name);
  for (const auto& [trait, value] : ordinary_case(seed, 0).traits) strata.insert(trait);
  for (const TestedAssumption& assumption : tested_assumptions()) {
    EXPECT_TRUE(ledger.contains(assumption.assumption)) << assumption.assumption;
    tested.insert(assumption.stratum);
  }
  EXPECT_EQ(tested, strata);
}

}  // namespace
}  // namespace tally::ordinary_case_test
