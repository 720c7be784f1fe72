// How micro-batches are dealt to ranks: read, written, refused, and taken apart.
#include "oracle/case/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/case/io.hpp"
#include "oracle/case/rank_keys.hpp"
#include "tests/oracle/case/refusal.hpp"

namespace tally::ranks_test {
namespace {

std::string text(const std::string& windows, const std::string& more = "", const std::string& version = "3") {
  return R"({"tally_case": )" + version + R"(, "model": {"input": 1, "layers": [
    {"kind": "linear", "name": "fc", "out": 1, "bias": false}], "loss": {"kind": "mse"}},
    "windows": )" +
         windows + more +
         R"(, "precision": {"storage": "fp32", "compute": "fp32", "accumulate": "fp32", "master": "fp32", "tf32": false},
    "recipe": {"optimizer": {"kind": "sgd"}, "learning_rate": {"kind": "constant", "base": 0.5},
    "weight_decay": {"kind": "none"}, "clip": {"kind": "none"}, "loss_scale": {"kind": "none"}},
    "tensors": {"fc.weight": {"dtype": "fp32", "shape": [1, 1], "data": [1]},
    "x": {"dtype": "fp32", "shape": [7, 1], "data": [1, 2, 3, 4, 5, 6, 7]},
    "target": {"dtype": "fp32", "shape": [7, 1], "data": [0, 0, 0, 0, 0, 0, 0]}}})";
}

Case case_of_text(const std::string& windows, const std::string& more = "") {
  return read_case(text(windows, more), ".");
}

const char* const three_ranks = "[[[2, 1], [3], []], [[], [], [1]]]";

TEST(RanksOfACase, HaveTheirMicroBatchesInTheOrderWritten) {
  const Case c = case_of_text(three_ranks);

  EXPECT_EQ(c.windows, (std::vector<std::vector<std::int64_t>>{{2, 1, 3}, {1}}));
  EXPECT_EQ(c.dealt, (std::vector<std::vector<std::int64_t>>{{2, 1, 0}, {0, 0, 1}}));
  EXPECT_EQ(ranks_of(c), 3u);
  EXPECT_EQ(rank_with(c, 0, 2), 1u);
  EXPECT_EQ(busy_ranks_of(c, 0), 2u);
  EXPECT_EQ(busy_ranks_of(c, 1), 1u);
}

TEST(RanksOfACase, SurviveBeingWritten) {
  const Case c = case_of_text(three_ranks, R"(, "normalisation": "rank_means",
    "execution": {"ranks": {"reduce": {"algorithm": "ring"}, "buckets": {"elements": 8, "align": 1}, "arrival": 4}})");

  const Case again = read_case(write_case(c), ".");

  EXPECT_EQ(again, c);
  EXPECT_EQ(rank_word(again, "reduce.algorithm"), "ring");
  EXPECT_EQ(rank_number(again, "buckets.elements"), 8);
  EXPECT_EQ(again.execution.ranks.options.size(), 3u);  // align says its default
}

TEST(RanksOfACase, HaveOneTextThoughDefaultsAreSaid) {
  const Case plain = case_of_text(three_ranks);

  const Case said = case_of_text(three_ranks, R"(, "execution": {"ranks": {"reduce": {"algorithm": "in_order"}}})");

  EXPECT_EQ(write_case(said), write_case(plain));
}

TEST(RanksOfACase, SayWhenTheyAddUpAndHowTheyDivide) {
  const Case c = case_of_text(three_ranks, R"(, "execution": {"ranks": {"communicate": "running_total",
    "reduce": {"divide": "split", "factor": 1.5}}})");

  const Case again = read_case(write_case(c), ".");

  EXPECT_EQ(again, c);
  EXPECT_EQ(communicate_of(again), Communicate::running_total);
  EXPECT_EQ(std::get<Decimal>(rank_option(again, "reduce.factor")).to_double(), 1.5);
  EXPECT_EQ(micro_steps_of(c, 0), 2u);
  EXPECT_EQ(micro_steps_of(part_of(c, 2), 0), 2u);
}

TEST(RanksOfACase, LeaveACaseOfOneRankItsText) {
  const Case c = read_case(text("[[3, 4]]", "", "1"), ".");

  EXPECT_FALSE(in_ranks(c));
  EXPECT_EQ(write_case(c).find("ranks"), std::string::npos);
  EXPECT_NE(write_case(c).find("\"tally_case\": 1"), std::string::npos);
}

TEST(RanksOfACase, MayBeAGroupOfOne) {
  const Case c = case_of_text("[[3, 4]]", R"(, "execution": {"ranks": {}})");

  EXPECT_TRUE(in_ranks(c));
  EXPECT_EQ(ranks_of(c), 1u);
  EXPECT_EQ(read_case(write_case(c), "."), c);
}

TEST(RanksOfACase, MayOffloadTheStep) {
  const Case c = case_of_text("[[3, 4]]", R"(, "execution": {"ranks": {"offload": true}})");

  EXPECT_TRUE(offloads(c));
  EXPECT_EQ(read_case(write_case(c), "."), c);
  EXPECT_FALSE(offloads(case_of_text("[[3, 4]]")));
  EXPECT_EQ(refusal(text("[[3, 4]]", R"(, "execution": {"ranks": {"offload": 1}})")),
            "$.execution.ranks.offload: 1; true or false");
}

TEST(RanksOfACase, EachSeeTheirOwnRows) {
  const Case c = case_of_text(three_ranks);

  const Case first = part_of(c, 0), last = part_of(c, 2);

  EXPECT_EQ(first.windows, (std::vector<std::vector<std::int64_t>>{{2, 1}, {}}));
  EXPECT_EQ(first.tensors.at("x").shape, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(first.tensors.at("x").value(2), 3);
  EXPECT_EQ(last.tensors.at("x").shape, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(last.tensors.at("x").value(0), 7);
  EXPECT_EQ(&whole_of(last), &c);
  EXPECT_TRUE(in_ranks(last));
}

std::string refusal_of_ranks(const std::string& ranks, const std::string& more = "") {
  return refusal(text("[[[2], [5]]]", more + R"(, "execution": {"ranks": )" + ranks + "}"));
}

TEST(RanksOfACase, AreRefusedWhereTheirWordsDoNotGoTogether) {
  EXPECT_EQ(refusal_of_ranks(R"({"reduce": {"divide": "split"}})"),
            "$.execution.ranks.reduce.factor: nothing; a number > 0, by which \"split\" divides in front");
  EXPECT_EQ(refusal_of_ranks(R"({"reduce": {"divide": "split", "factor": -2}})"),
            "$.execution.ranks.reduce.factor: -2; a number > 0");
  for (const std::string factor : {"1e300", "1e-300", "1e-46"})
    EXPECT_EQ(refusal_of_ranks(R"({"reduce": {"divide": "split", "factor": )" + factor + "}}"),
              "$.execution.ranks.reduce.factor: " + factor +
                  "; a number whose reciprocal, and whose part of each rank, are neither 0 nor infinite in fp32");
  EXPECT_EQ(refusal_of_ranks(R"({"reduce": {"divide": "split", "factor": 1e38}})"), "");
  EXPECT_EQ(refusal_of_ranks(R"({"reduce": {"divide": "after", "factor": 2}})"),
            "$.execution.ranks.reduce.factor: a factor beside \"divide\": \"after\"; none, or \"divide\": \"split\"");
  EXPECT_EQ(
      refusal_of_ranks(R"({"reduce": {"divide": "unscale"}})", R"(, "normalisation": "rank_means")").substr(0, 32),
      "$.execution.ranks.reduce.divide:");
  EXPECT_EQ(refusal_of_ranks(R"({"communicate": "running_total"})").substr(0, 30), "$.execution.ranks.communicate:");
  EXPECT_EQ(refusal(text("[[[2], [5]]]", R"(, "execution": {"ranks": {"communicate": "micro_batch"},
    "kernels": {"linear.weight_gradient": "into_buffer"}})"))
                .substr(0, 30),
            "$.execution.ranks.communicate:");
  EXPECT_EQ(refusal(text("[[[2], [5]]]", R"(, "execution": {"kernels": {"accumulate": "kahan"},
    "ranks": {"communicate": "running_total", "reduce": {"divide": "after"}}})"))
                .substr(0, 30),
            "$.execution.ranks.communicate:");
}

TEST(RanksOfACase, AreRefusedWhereTheyAreNotStated) {
  EXPECT_EQ(refusal(text("[[[2], [5]]]", "", "2")), "$.tally_case: 2; 3, as the micro-batches are dealt to ranks");
  EXPECT_EQ(refusal(text("[[[2], [3]], []]")).substr(0, 22), "$.windows[1]: an empty");
  EXPECT_EQ(refusal(text("[[[7]]]")).substr(0, 21), "$.windows[0]: 1 rank;");
  EXPECT_EQ(refusal(text("[[[2, 0], [5]]]")).substr(0, 22), "$.windows[0][0][1]: 0;");
  EXPECT_EQ(refusal(text("[[[], []]]")), "$.windows[0]: an empty window; at least one micro-batch");
  EXPECT_EQ(refusal(text("[[[2], [5]]]", R"(, "normalisation": "mean_of_means_configured")")).substr(0, 16),
            "$.normalisation:");
  EXPECT_EQ(refusal(text("[[[2], [5]]]", R"(, "execution": {"ranks": {"reduce": {"algorithm": "star"}}})")),
            "$.execution.ranks.reduce.algorithm: \"star\"; one of \"in_order\", \"recursive_doubling\", \"ring\", "
            "\"all_to_all\", \"recursive_halving\", \"tree\", \"arrival\", \"library\"");
  EXPECT_EQ(refusal(text("[[[2], [5]]]", R"(, "execution": {"ranks": {"buckets": {"align": 0}}})")),
            "$.execution.ranks.buckets.align: 0; an integer >= 1");
  const std::string unknown = refusal(text("[[[2], [5]]]", R"(, "execution": {"ranks": {"bucket": {}}})"));
  EXPECT_EQ(unknown.substr(0, 25), "$.execution.ranks.bucket:");
  ASSERT_NE(unknown.find("\"reduce\""), std::string::npos);
  EXPECT_EQ(unknown.find("\"reduce\""), unknown.rfind("\"reduce\""));  // each known key once
}

TEST(RanksOfACase, AreBoundedBeforeMemoryIsTaken) {
  Case c = case_of_text("[[[2], [5]]]");
  c.tensors.at("fc.weight") = Tensor(Dtype::fp32, {1 << 17, 1});
  c.windows = {std::vector<std::int64_t>(4096, 1)};
  c.dealt = c.windows;
  const auto names_room = [](const CaseError& error) {
    return error.path == "$.windows[0]" && error.found == "4096 ranks of 131072 parameters";
  };

  const auto errors = validate(c);

  EXPECT_TRUE(std::ranges::any_of(errors, names_room));
  EXPECT_EQ(refusal(text("[[[2], [5]]]", R"(, "execution": {"ranks": {"buckets": {"align": 2305843009213693952}}})")),
            "$.execution.ranks.buckets.align: 2305843009213693952; at most 1048576 for as many ranks");
}

}  // namespace
}  // namespace tally::ranks_test
