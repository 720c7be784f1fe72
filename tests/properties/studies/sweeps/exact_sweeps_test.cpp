// Each sweep at little effort: it passes, and what it hands to the page hangs together.
#include <gtest/gtest.h>

#include "properties/studies/study.hpp"

namespace tally {
namespace {

constexpr double little = 0.05;

Study study_of(const std::string& name, const StudyOptions& options) {
  return run_study(*find_study("sweep", name), options);
}

StudyOptions with_effort(double effort) {
  StudyOptions options;
  options.effort = effort;
  return options;
}

void expect_whole(const StudyTable& table) {
  ASSERT_FALSE(table.columns.empty()) << table.title;
  const auto rows_of = [](const StudyColumn& column) { return column.words.size() + column.numbers.size(); };
  EXPECT_GT(rows_of(table.columns.front()), 0u) << table.title;
  for (const StudyColumn& column : table.columns) {
    EXPECT_TRUE(column.words.empty() || column.numbers.empty()) << table.title << ", " << column.name;
    EXPECT_EQ(rows_of(column), rows_of(table.columns.front())) << table.title << ", " << column.name;
  }
}

void expect_whole(const StudyPlot& plot) {
  EXPECT_FALSE(plot.series.empty()) << plot.title;
  for (const StudySeries& series : plot.series) {
    EXPECT_FALSE(series.x.empty()) << plot.title << ", " << series.name;
    EXPECT_EQ(series.x.size(), series.y.size()) << plot.title << ", " << series.name;
    EXPECT_EQ(series.low.size(), series.high.size()) << plot.title << ", " << series.name;
    EXPECT_TRUE(series.low.empty() || series.low.size() == series.x.size()) << plot.title << ", " << series.name;
  }
}

class ExactSweep : public testing::TestWithParam<const char*> {};

TEST_P(ExactSweep, passes_with_whole_tables_and_plots) {
  const Study study = study_of(GetParam(), with_effort(little));
  EXPECT_EQ(study.status, Status::pass) << study.message;
  EXPECT_FALSE(study.answer.empty());
  EXPECT_FALSE(study.notes.empty());
  EXPECT_FALSE(study.tables.empty());
  EXPECT_FALSE(study.plots.empty());
  for (const StudyTable& table : study.tables) expect_whole(table);
  for (const StudyPlot& plot : study.plots) expect_whole(plot);
}

TEST_P(ExactSweep, passes_nothing_when_interrupted) {
  const std::atomic<bool> interrupted = true;
  StudyOptions options = with_effort(little);
  options.interrupted = &interrupted;
  const Study study = study_of(GetParam(), options);
  EXPECT_TRUE(study.partial);
  EXPECT_EQ(study.status, Status::not_run);
}

INSTANTIATE_TEST_SUITE_P(All, ExactSweep,
                         testing::Values("batch_norm", "learning_rate", "memory", "momentum", "noise_scale"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace tally
