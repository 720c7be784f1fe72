#include <gtest/gtest.h>

#include "oracle/case/rank_keys.hpp"
#include "properties/generators/choices.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"

namespace tally::rank_rows_test {
namespace {

TensorCheck check(const std::string& tap, Status status, const std::string& lens = "local") {
  TensorCheck all;
  all.tap = tap;
  all.lens = lens;
  all.status = status;
  return all;
}

TEST(RankRows, FoldNeighbouringRanksThatAreAlike) {
  std::vector<TensorCheck> checks;
  for (int rank = 0; rank < 6; ++rank) {
    const std::string window = "w0/r" + std::to_string(rank) + "/";
    checks.push_back(check(window + "optimizer/fc.weight", Status::pass));
    checks.push_back(check(window + "m0/forward/fc.y", rank == 3 ? Status::fail : Status::pass));
    checks.push_back(check(window + "m1/forward/fc.y", Status::pass));
  }

  const std::vector<RankRow> rows = rank_rows({}, checks);

  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].last, 2);
  EXPECT_EQ(rows[1].first, 3);
  EXPECT_EQ(rows[2].last, 5);
  EXPECT_EQ(rows[1].stages,
            (std::vector<RankStage>{{"forward", Status::fail, 1, false}, {"optimizer", Status::pass, 0, false}}));
}

TEST(RankRows, KeepTheGravestOfAStage) {
  const std::vector<RankRow> rows =
      rank_rows({}, {check("w0/r1/m0/loss/loss", Status::not_run), check("w0/r1/m1/loss/loss", Status::vacuous),
                     check("w1/r1/m0/loss/loss", Status::fail), check("w1/r1/m1/loss/loss", Status::fail),
                     check("w1/r1/m1/loss/loss", Status::fail, "end_to_end"),
                     check("w1/r1/m1/loss/loss", Status::fail, "relation")});

  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].stages, (std::vector<RankStage>{{"loss", Status::fail, 2, false}}));
}

TEST(RankRows, HaveTheBuffersBehindTheSumsThatTheyAdd) {
  const auto stages = [](const std::string& handed) {
    const std::vector<RankRow> rows = rank_rows(
        {}, {check("w0/r0/m0/accumulate/buffer.fc.weight", Status::pass),
             check("w0/r0/m0/reduce/" + handed, Status::pass), check("w0/r0/unscale/d.fc.weight", Status::pass)});
    std::vector<std::string> names;
    for (const RankStage& each : rows.at(0).stages) names.push_back(each.stage);
    return names;
  };

  EXPECT_EQ(stages("in.d.fc.weight"), (std::vector<std::string>{"reduce", "accumulate", "unscale"}));
  EXPECT_EQ(stages("in.buffer.fc.weight"), (std::vector<std::string>{"accumulate", "reduce", "unscale"}));
}

TEST(RankRows, AreNoneOfOneRank) { EXPECT_TRUE(rank_rows({}, {check("w0/m0/loss/loss", Status::fail)}).empty()); }

TEST(RankRows, AreOfEachStageOfAPipeline) {
  Case c;
  c.model.layers = {layer("linear", "fc", {{"out", std::int64_t{3}}}),
                    layer("linear", "out", {{"out", std::int64_t{2}}})};
  set_rank_option(c.execution, "pipeline.stages", std::int64_t{2});
  set_rank_option(c.execution, "pipeline.cut", std::vector<Decimal>{Decimal{"1"}});

  const std::vector<RankRow> rows =
      rank_rows(c, {check("w0/r0/m0/forward/fc.y", Status::pass), check("w0/r1/m0/forward/fc.y", Status::pass),
                    check("w0/r0/m0/forward/out.y", Status::pass), check("w0/r1/m0/forward/out.y", Status::fail),
                    check("w0/r1/p1/m0/receive/out.x", Status::pass)});

  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].pipe, 0);
  EXPECT_EQ(rows[0].last, 1);
  EXPECT_EQ(rows[1].pipe, 1);
  EXPECT_EQ(rows[2].first, 1);
  EXPECT_EQ(rows[2].stages,
            (std::vector<RankStage>{{"receive", Status::pass, 0, false}, {"forward", Status::fail, 1, true}}));
}

}  // namespace
}  // namespace tally::rank_rows_test
