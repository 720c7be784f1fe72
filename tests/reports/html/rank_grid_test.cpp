#include <gtest/gtest.h>

#include "reports/html/table.hpp"

namespace tally::rank_grid_test {
namespace {

std::string grid_of(const CaseRecord& c) {
  std::string html;
  Markup page(html);
  rank_grid(page, c.ranks, c.title, c.first_tap);
  return html;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

CaseRecord failing() {
  CaseRecord c;
  c.title = "eight ranks";
  const RankStage forward{"forward", Status::pass}, backward{"backward", Status::pass},
      wrong{"backward", Status::fail, 2};
  c.ranks = {{0, 4, {forward, backward}}, {5, 5, {forward, wrong}}, {6, 7, {forward}}};
  c.first_tap = "w0/r5/m1/backward/d.fc1.weight";
  return c;
}

TEST(RankGrid, HasARowForRanksThatAreAlike) {
  const std::string html = grid_of(failing());

  EXPECT_EQ(count(html, ">0 to 4<"), 1u);
  EXPECT_EQ(count(html, ">5<"), 1u);
  EXPECT_EQ(count(html, ">6 to 7<"), 1u);
}

TEST(RankGrid, MarksTheCellThatFailsFirst) {
  const std::string html = grid_of(failing());

  EXPECT_EQ(count(html, "tint-fail"), 1u);
  EXPECT_EQ(count(html, "fails first"), 1u);
  EXPECT_LT(html.find("tint-fail"), html.find("fails first"));
  EXPECT_EQ(count(html, "\u2013"), 1u);  // ranks 6 and 7 have no such stage
}

TEST(RankGrid, HasARowForEachStageOfAPipeline) {
  CaseRecord c;
  const RankStage forward{"forward", Status::pass}, first{"backward", Status::fail, 1, true},
      behind{"backward", Status::fail, 2};
  c.ranks = {{0, 0, {forward, behind}, 0}, {0, 0, {forward, first}, 1}};
  c.first_tap = "w0/m0/backward/d.out.weight";

  const std::string html = grid_of(c);

  EXPECT_EQ(count(html, "Stage of the pipeline"), 1u);
  EXPECT_EQ(count(html, "fails first"), 1u);
  EXPECT_LT(html.rfind("tint-fail"), html.find("fails first"));  // in the last row
}

TEST(RankGrid, IsNotThereForOneRank) { EXPECT_EQ(grid_of(CaseRecord{}), ""); }

}  // namespace
}  // namespace tally::rank_grid_test
