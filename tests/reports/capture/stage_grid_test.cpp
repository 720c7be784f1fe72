#include <gtest/gtest.h>

#include <limits>

#include "reports/capture/page.hpp"
#include "tests/reports/samples/captures.hpp"

namespace tally::stage_grid_test {
namespace {

constexpr std::size_t plenty = 100;

std::string names(const StageGrid& grid) {
  std::string text;
  for (const StageColumn& column : grid.columns) text += (text.empty() ? "" : ", ") + column.name();
  return text;
}

TEST(StageGrid, HasAColumnForEveryMicroBatchAndOneForItsWindow) {
  EXPECT_EQ(names(stage_grid(samples::right_capture(), plenty)), "w0 m0, w0 m1, w0 m2, w0, w1 m0, w1 m1, w1 m2, w1");
}

TEST(StageGrid, PutsWhatAllRanksLeaveIntoTheColumnOfTheirMicroBatch) {
  StageColumn column;
  ASSERT_TRUE(column_of("w1/r12/m2/loss/loss", column));
  EXPECT_EQ(column, (StageColumn{1, 2}));
  ASSERT_TRUE(column_of("w1/r12/reduce/reduced.fc1.weight", column));
  EXPECT_EQ(column, (StageColumn{1, -1}));
  ASSERT_TRUE(column_of("w0/r1/p3/m2/send/in.fc1.y", column));
  EXPECT_EQ(column, (StageColumn{0, 2}));
}

TEST(StageGrid, PutsAFailureAboveMissingTapsAndThoseAboveTheRest) {
  StageCell cell;
  cell.checks = 4;
  EXPECT_EQ(cell.status(), Status::pass);
  cell.vacuous = 3;
  EXPECT_EQ(cell.status(), Status::pass);
  cell.vacuous = 4;
  EXPECT_EQ(cell.status(), Status::vacuous);
  cell.not_run = 1;
  EXPECT_EQ(cell.status(), Status::not_run);
  cell.failed = 1;
  EXPECT_EQ(cell.status(), Status::fail);
}

TEST(StageGrid, MarksTheFirstFailureOnce) {
  const StageGrid grid = stage_grid(samples::wrong_capture(), plenty);
  std::size_t marked = 0;
  for (const auto& [place, cell] : grid.cells) marked += cell.first;
  EXPECT_EQ(marked, 1u);
  ASSERT_NE(grid.at("backward", {0, 1}), nullptr);
  EXPECT_TRUE(grid.at("backward", {0, 1})->first);
  EXPECT_EQ(grid.at("backward", {0, -1}), nullptr);
}

TEST(StageGrid, KeepsTheWorstShareOfItsBoundEvenWhereThatIsNoNumber) {
  CaptureRecord capture = samples::right_capture();
  capture.checks[1].worst_ratio = std::numeric_limits<double>::quiet_NaN();
  capture.checks[1].status = Status::fail;
  const StageGrid grid = stage_grid(capture, plenty);
  const StageCell* cell = grid.at("forward", {0, 0});
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell->tap, capture.checks[1].tap);
}

TEST(StageGrid, LeavesOutColumnsThatTellLeast) {
  CaptureRecord capture = samples::right_capture();
  for (TensorCheck& check : capture.checks)
    if (check.tap.starts_with("w1/m2/backward")) check.status = Status::fail;
  const StageGrid grid = stage_grid(capture, 3);
  EXPECT_EQ(names(grid), "w0 m0, w0 m1, w1 m2");
  EXPECT_EQ(grid.columns_left_out, 5u);
}

TEST(StageGrid, ReadsAPlaceAndNothingElse) {
  StageColumn column;
  EXPECT_TRUE(column_of("w2/m11/loss/loss", column));
  EXPECT_EQ(column, (StageColumn{2, 11}));
  EXPECT_TRUE(column_of("w2/mean/x", column));
  EXPECT_EQ(column, (StageColumn{2, -1}));
  for (const char* other : {"", "w", "w1", "m1/x", "w-1/x", "w99999999999/x", "memory"})
    EXPECT_FALSE(column_of(other, column)) << other;
}

}  // namespace
}  // namespace tally::stage_grid_test
