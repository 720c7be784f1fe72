// Running values of several ranks in the exact answer: the first rank's, or every rank's own.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "oracle/exact/answer.hpp"
#include "oracle/exact/trajectory.hpp"
#include "tests/oracle/window/small_case.hpp"

namespace tally::oracle::rank_running_test {
namespace {

using Wide = long double;

/// Two windows of three ranks: rows 0, 1 | 2..4, 5, 6 | none, and none | 7..9 | 10, 11.
Case ranks_that_keep(const std::string& running) {
  Case c = small_case({{2, 3, 2}, {3, 2}}, "micro_batch");
  c.model.layers[1].options["running"] = running;
  c.dealt = {{1, 2, 0}, {0, 1, 1}};
  return c;
}

/// The running values of the one rank that has these micro-batches alone, and their rows.
Matrix<Wide> moved_by(std::vector<std::vector<std::int64_t>> windows, const std::vector<std::int64_t>& rows, bool var) {
  const Case all = ranks_that_keep("each");
  Case alone = small_case(std::move(windows), "micro_batch");
  alone.tensors = all.tensors;
  for (const char* name : {"x", "target", "drop.mask"}) {
    const Tensor& from = all.tensors.at(name);
    std::vector<std::int64_t> shape = from.shape;
    shape.front() = static_cast<std::int64_t>(rows.size());
    Tensor own(from.dtype, shape);
    const std::size_t width = own.elements() / rows.size();
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t i = 0; i < width; ++i)
        own.set_bits(r * width + i, from.bits(static_cast<std::size_t>(rows[r]) * width + i));
    alone.tensors[name] = own;
  }
  State<Wide> state = initial_state<Wide>(alone);
  for (std::size_t w = 0; w < alone.windows.size(); ++w) {
    const auto next = evaluate_window<Wide>(alone, w, Branch::accumulated, state).after;
    state.running_mean = next.running_mean;  // the parameters stand still, as in one window
    state.running_var = next.running_var;
  }
  return var ? state.running_var.at("bn") : state.running_mean.at("bn");
}

State<Wide> after_first_window(const Case& c, Branch branch = Branch::accumulated) {
  return evaluate_window<Wide>(c, 0, branch, initial_state<Wide>(c)).after;
}

TEST(RunningValuesOfRanks, AreEachMovedByTheMicroBatchesOfTheirOwnRank) {
  const State<Wide> after = after_first_window(ranks_that_keep("each"));

  ASSERT_EQ(after.running_mean.at("bn").rows(), 3);
  const Matrix<Wide> start = initial_state<Wide>(ranks_that_keep("first_rank")).running_mean.at("bn");
  EXPECT_EQ(Matrix<Wide>(after.running_mean.at("bn").row(0)), moved_by({{2}}, {0, 1}, false));
  EXPECT_EQ(Matrix<Wide>(after.running_mean.at("bn").row(1)), moved_by({{3, 2}}, {2, 3, 4, 5, 6}, false));
  EXPECT_EQ(Matrix<Wide>(after.running_mean.at("bn").row(2)), start);
  EXPECT_EQ(Matrix<Wide>(after.running_var.at("bn").row(0)), moved_by({{2}}, {0, 1}, true));
  EXPECT_EQ(Matrix<Wide>(after.running_var.at("bn").row(1)), moved_by({{3, 2}}, {2, 3, 4, 5, 6}, true));
}

TEST(RunningValuesOfRanks, AreTheFirstRanksWhereTheCaseSaysNothing) {
  const State<Wide> first = after_first_window(ranks_that_keep("first_rank")),
                    each = after_first_window(ranks_that_keep("each"));

  ASSERT_EQ(first.running_mean.at("bn").rows(), 1);
  EXPECT_EQ(first.running_mean.at("bn"), Matrix<Wide>(each.running_mean.at("bn").row(0)));
  EXPECT_NE(first.running_mean.at("bn"), Matrix<Wide>(each.running_mean.at("bn").row(1)));
}

TEST(RunningValuesOfRanks, StandStillInAWindowWithoutAMicroBatchOfTheFirstRank) {
  const auto answers = trajectory<Wide>(ranks_that_keep("first_rank"), Branch::accumulated);

  EXPECT_EQ(answers[1].after.running_mean.at("bn"), answers[0].after.running_mean.at("bn"));
  EXPECT_EQ(answers[1].after.running_var.at("bn"), answers[0].after.running_var.at("bn"));
}

TEST(RunningValuesOfRanks, AreAllAlikeInTheFullBatch) {
  const Matrix<Wide> mean = after_first_window(ranks_that_keep("each"), Branch::full_batch).running_mean.at("bn");
  const Matrix<Wide> one = after_first_window(ranks_that_keep("first_rank"), Branch::full_batch).running_mean.at("bn");

  ASSERT_EQ(mean.rows(), 3);
  for (Eigen::Index rank = 0; rank < 3; ++rank) EXPECT_EQ(Matrix<Wide>(mean.row(rank)), one);
}

TEST(RunningValuesOfRanks, ChangeNoGradient) {
  const auto first = trajectory<Wide>(ranks_that_keep("first_rank"), Branch::accumulated),
             each = trajectory<Wide>(ranks_that_keep("each"), Branch::accumulated);

  for (std::size_t w = 0; w < 2; ++w) EXPECT_EQ(first[w].grad, each[w].grad);
}

TEST(RunningValuesOfRanks, StandInTheAnswerByRank) {
  const auto of = [](const std::string& running) {
    return nlohmann::json::parse(answer(ranks_that_keep(running), 17));
  };
  const auto each = of("each")["accumulated"][0]["running_mean"]["bn"],
             first = of("first_rank")["accumulated"][0]["running_mean"]["bn"];

  EXPECT_EQ(each["shape"], nlohmann::json({3, 4}));
  EXPECT_EQ(first["shape"], nlohmann::json({4}));
  EXPECT_EQ(each["data"].size(), 12u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(each["data"][i], first["data"][i]);
}

}  // namespace
}  // namespace tally::oracle::rank_running_test
