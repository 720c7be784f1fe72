// Windows whose number of ranks changes: read, written, and taken apart into generations.
#include <gtest/gtest.h>

#include "oracle/case/io.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"

namespace tally::generations_test {
namespace {

Case changing(const std::string& windows, const std::string& ranks = R"({"sharding": "optimizer"})") {
  return read_case(R"({"tally_case": 3, "model": {"input": 1, "layers": [
    {"kind": "linear", "name": "fc", "out": 1, "bias": true}], "loss": {"kind": "mse"}},
    "windows": )" + windows +
                       R"(, "precision": {"storage": "fp32", "compute": "fp32", "accumulate": "fp32", "master": "fp32",
    "tf32": false}, "execution": {"ranks": )" +
                       ranks + R"(},
    "recipe": {"optimizer": {"kind": "sgd", "momentum": 0.5}, "learning_rate": {"kind": "constant", "base": 0.5},
    "weight_decay": {"kind": "none"}, "clip": {"kind": "none"}, "loss_scale": {"kind": "none"}},
    "tensors": {"fc.weight": {"dtype": "fp32", "shape": [1, 1], "data": [1]},
    "fc.bias": {"dtype": "fp32", "shape": [1], "data": [0]},
    "x": {"dtype": "fp32", "shape": [7, 1], "data": [1, 2, 3, 4, 5, 6, 7]},
    "target": {"dtype": "fp32", "shape": [7, 1], "data": [0, 0, 0, 0, 0, 0, 0]}}})",
                   ".");
}

const char* const two_three_one = "[[[2], [1]], [[], [1], [1]], [[], [1], []], [[1]]]";

TEST(Generations, AreWindowsInARowWithAsManyRanks) {
  const Case c = changing(two_three_one);

  const std::vector<Generation> all = generations_of(c);

  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].first, 1u);
  EXPECT_EQ(all[1].last, 3u);
  EXPECT_EQ(all[1].ranks, 3u);
  EXPECT_TRUE(is_elastic(c));
  EXPECT_EQ(generation_with(c, 2), 1u);
  EXPECT_EQ(generation_with(c, 3), 2u);
  EXPECT_EQ(most_ranks_of(c), 3u);
  EXPECT_EQ(ranks_of(c, 3), 1u);
  EXPECT_THROW(ranks_of(c), std::logic_error);
}

TEST(Generations, SurviveBeingWritten) {
  const Case c = changing(two_three_one);

  const Case again = read_case(write_case(c), ".");

  EXPECT_EQ(again, c);
  EXPECT_EQ(hash_of(again), hash_of(c));
}

TEST(Generations, KeepTheNumbersOfTheirWindowsAndTheirOwnRows) {
  const Case c = changing(two_three_one);

  const Case second = generation_of(c, 1);

  EXPECT_EQ(ranks_of(second), 3u);
  EXPECT_EQ(second.windows, (std::vector<std::vector<std::int64_t>>{{}, {1, 1}, {1}, {}}));
  EXPECT_EQ(second.tensors.at("x").shape, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(second.tensors.at("x").value(0), 4);
  EXPECT_EQ(part_of(second, 1).tensors.at("x").value(1), 6);
  EXPECT_EQ(sharers_of(second), 3u);
  EXPECT_FALSE(trains_window(second, 0));
  EXPECT_TRUE(begins_from_checkpoint(second, 1));
  EXPECT_FALSE(begins_from_checkpoint(second, 2));
  EXPECT_TRUE(leaves_checkpoint(part_of(second, 0), 2));
  EXPECT_FALSE(leaves_checkpoint(generation_of(c, 2), 3));
}

TEST(Generations, AreOneWhereTheNumberNeverChanges) {
  const Case c = changing("[[[2], [1]], [[], [4]]]");

  EXPECT_FALSE(is_elastic(c));
  EXPECT_EQ(generation_of(c, 0), c);
  EXPECT_EQ(generations_of(c).size(), 1u);
  EXPECT_FALSE(begins_from_checkpoint(c, 1));
}

std::string refused_at(const std::string& windows, const std::string& ranks = "{}") {
  try {
    changing(windows, ranks);
  } catch (const InvalidCase& reason) {
    return reason.errors().front().path + ": " + reason.errors().front().found;
  }
  return "nowhere";
}

TEST(Generations, AreRefusedWhereTheyAreNotStated) {
  EXPECT_EQ(refused_at("[[[7]]]"), "$.windows[0]: 1 rank");
  EXPECT_EQ(refused_at("[[[3]], [[4]]]"), "$.windows[0]: 1 rank");
  EXPECT_EQ(refused_at("[[[3], [4]], [7]]").substr(0, 15), "$.windows[1][0]");
  EXPECT_EQ(refused_at("[[[3], [2]], [[1], [1], []]]", R"({"sharding": "gradients", "replicas": 2})"),
            "$.execution.ranks.replicas: 2 beside 3 ranks in $.windows[1]");
  EXPECT_EQ(refused_at("[[[3], [2]], [[1], [1], []]]", R"({"pipeline": {"stages": 2, "cut": [1]}})"),
            "$.execution.ranks.pipeline.stages: a pipeline over a number of ranks that changes");
  EXPECT_EQ(refused_at("[[[3], [2]], [[1], [1], []]]"), "nowhere");
}

}  // namespace
}  // namespace tally::generations_test
