#include "properties/lab/evidence/gather.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/training_step/stages.hpp"
#include "properties/faults/fault.hpp"
#include "properties/lab/evidence/tables.hpp"

namespace tally::gather_test {
namespace {

const EvidencePlan small{.clean_cases = 60, .ordinary_networks = 8, .hard_cases = 1, .climbs = 1, .steps = 5};

StudyOptions in(int processes) {
  StudyOptions options;
  options.processes = processes;
  return options;
}

const Figure& figure(const std::vector<Figure>& figures, const std::string& name) {
  return *std::ranges::find(figures, name, &Figure::name);
}

TEST(Evidence, IsTheSameWhateverTheNumberOfProcesses) {
  const GatheredEvidence one = gather_evidence(small, in(1)), two = gather_evidence(small, in(2));

  EXPECT_EQ(one.strata, two.strata);
  EXPECT_EQ(one.climbs, two.climbs);
  EXPECT_TRUE(one.problems.empty()) << one.problems.front();
  EXPECT_EQ(one.strata.sum({"all"}).cases, small.clean_cases);
  for (const Figure& f : figures_of(one)) {
    EXPECT_TRUE(f.met || f.name == "gradients held end to end") << f.name << ": " << f.found;
  }
}

TEST(Evidence, MissesItsFiguresUnderASeededFault) {
  StudyOptions options = in(2);
  options.subject.stages = &find_fault("sum-not-mean")->stages();
  const GatheredEvidence evidence =
      gather_evidence({.clean_cases = 12, .ordinary_networks = 2, .hard_cases = 0, .climbs = 0, .steps = 0}, options);

  const auto figures = figures_of(evidence);
  EXPECT_FALSE(figure(figures, "false alarms in clean cases").met);
  EXPECT_FALSE(figure(figures, "worst r of a clean case").met);
  EXPECT_TRUE(std::ranges::any_of(evidence_tables(evidence), [](const StudyTable& t) { return t.title == "Alarms"; }));
}

TEST(Evidence, MeetsNoFigureThatNeedsCasesWithoutAny) {
  const auto figures = figures_of({});
  ASSERT_FALSE(figures.empty());
  for (const Figure& f : figures) EXPECT_EQ(f.met, f.name == "checks that could not be made") << f.name;
}

TEST(Evidence, TellsASubjectThatCannotRunFromOneThatPasses) {
  StudyOptions options = in(2);
  Stages broken = shipped_stages();
  broken.variants["accumulate"] = "no such kernel";
  options.subject.stages = &broken;
  const GatheredEvidence evidence =
      gather_evidence({.clean_cases = 4, .ordinary_networks = 0, .hard_cases = 0, .climbs = 1, .steps = 1}, options);

  EXPECT_EQ(evidence.problems.size(), 7u);  // four cases and three climbs
  EXPECT_FALSE(figure(figures_of(evidence), "checks that could not be made").met);
}

TEST(EvidenceTables, HaveColumnsOfOneLength) {
  const auto tables = evidence_tables(gather_evidence(small, in(2)));
  ASSERT_FALSE(tables.empty());
  for (const StudyTable& table : tables) {
    ASSERT_FALSE(table.columns.empty()) << table.title;
    const auto rows = [](const StudyColumn& c) { return std::max(c.words.size(), c.numbers.size()); };
    for (const StudyColumn& column : table.columns) {
      EXPECT_EQ(rows(column), rows(table.columns.front())) << table.title << ", " << column.name;
      EXPECT_TRUE(column.words.empty() || column.numbers.empty()) << column.name;
    }
  }
}

}  // namespace
}  // namespace tally::gather_test
