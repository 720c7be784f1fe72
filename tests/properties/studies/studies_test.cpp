// Every registered study, with little effort: a whole document, the same for any number of processes.
#include <gtest/gtest.h>

#include <atomic>
#include <ostream>

#include "properties/faults/fault.hpp"
#include "properties/lab/study.hpp"

namespace tally {

/// So that ctest shows a name and no address.
void PrintTo(const StudyRunner* study, std::ostream* out) { *out << study->family << " " << study->name; }

namespace {

std::vector<const StudyRunner*> all_studies() {
  std::vector<const StudyRunner*> all = studies("sweep");
  const auto benches = studies("bench");
  all.insert(all.end(), benches.begin(), benches.end());
  return all;
}

StudyOptions little(int processes) {
  StudyOptions options;
  options.effort = 0.01;
  options.processes = processes;
  return options;
}

class EveryStudy : public testing::TestWithParam<const StudyRunner*> {};

TEST_P(EveryStudy, FillsAWholeDocumentTheSameForAnyNumberOfProcesses) {
  const Study study = run_study(*GetParam(), little(2));
  const std::string json = to_json(study);

  EXPECT_NO_THROW(study_of_json(json));  // refuses columns and points that do not match
  EXPECT_FALSE(study.answer.empty());
  EXPECT_FALSE(study.tables.empty() && study.plots.empty());
  for (const StudyTable& table : study.tables) EXPECT_FALSE(table.columns.empty()) << table.title;
  EXPECT_TRUE(study.status == Status::pass || study.status == Status::vacuous) << study.message;
  EXPECT_TRUE(to_json(run_study(*GetParam(), little(1))) == json);
}

TEST_P(EveryStudy, EndsWithAMarkedDocumentWhenItIsInterrupted) {
  const std::atomic<bool> stop{true};
  StudyOptions options = little(1);
  options.interrupted = &stop;

  const Study study = run_study(*GetParam(), options);

  EXPECT_TRUE(study.partial);
  EXPECT_NE(study.status, Status::pass);
  EXPECT_NO_THROW(study_of_json(to_json(study)));
}

TEST(DriftSweeps, FailOnASubjectThatOverwritesItsBuffer) {
  StudyOptions options = little(2);
  options.subject.stages = &find_fault("overwrite-not-add")->stages();
  for (const char* name : {"loss_scale", "micro_batches", "precision", "steps"}) {
    const Study study = run_study(*find_study("sweep", name), options);
    EXPECT_EQ(study.status, Status::fail) << name;
    EXPECT_FALSE(study.message.empty()) << name;
  }
}

std::string name_of_study(const testing::TestParamInfo<const StudyRunner*>& study) {
  return study.param->family + "_" + study.param->name;
}

INSTANTIATE_TEST_SUITE_P(Studies, EveryStudy, testing::ValuesIn(all_studies()), name_of_study);

}  // namespace
}  // namespace tally
