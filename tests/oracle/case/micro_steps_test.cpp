// Statistics that ranks share of a micro-step: read, written, refused.
#include <gtest/gtest.h>

#include "oracle/case/io.hpp"
#include "oracle/case/ranks.hpp"
#include "tests/oracle/case/batch_norm_text.hpp"
#include "tests/oracle/case/refusal.hpp"

namespace tally::micro_steps_test {
namespace {

std::string shared_by(const std::string& word) {
  return R"(, "execution": {"ranks": {"statistics": ")" + word + R"("}})";
}

TEST(MicroSteps, AreTheKthMicroBatchesOfTheRanksThatHaveOne) {
  const Case c = read_case(text("[[[1, 2], [1], []], [[], [], [1]]]", "frozen"), ".");

  EXPECT_EQ(step_counts(c, 0, 0), (std::vector<std::int64_t>{1, 1, 0}));
  EXPECT_EQ(step_counts(c, 0, 1), (std::vector<std::int64_t>{2, 0, 0}));
  EXPECT_EQ(step_counts(part_of(c, 1), 0, 1), step_counts(c, 0, 1));
  EXPECT_EQ(rows_of_step(c, 0, 0), 2);
  EXPECT_EQ(rows_of_step(c, 1, 0), 1);
}

TEST(MicroSteps, NeedTwoRowsOfAllRanksTogether) {
  EXPECT_EQ(refusal(text("[[[1, 2], [1], [1]]]", "micro_step")), "");
  EXPECT_EQ(
      refusal(text("[[[1, 1], [3]]]", "micro_step")),
      "$.windows[0]: micro-step 1 of one row under \"micro_step\" statistics; at least 2 rows, of all ranks together");
  EXPECT_EQ(refusal(text("[[4, 1]]", "micro_step")),
            "$.windows[0][1]: micro-step 1 of one row under \"micro_step\" statistics; at least 2 rows, of all ranks "
            "together");
}

TEST(MicroSteps, AreSharedAsTheCaseSays) {
  const std::string ranks = "[[[2], [3]]]";

  EXPECT_EQ(step_statistics_of(read_case(text(ranks, "micro_step"), ".")), StepStatistics::moments);
  EXPECT_EQ(step_statistics_of(read_case(text(ranks, "micro_step", "", shared_by("sums")), ".")), StepStatistics::sums);
  EXPECT_EQ(step_statistics_of(read_case(text(ranks, "micro_step", "", shared_by("two_pass")), ".")),
            StepStatistics::two_pass);
  EXPECT_TRUE(pools_steps(read_case(text(ranks, "micro_step"), ".")));
  EXPECT_FALSE(pools_steps(read_case(text(ranks, "micro_batch"), ".")));
  EXPECT_FALSE(pools_steps(read_case(text("[[2, 3]]", "micro_step"), ".")));
}

TEST(MicroSteps, SurviveBeingWrittenWithoutTheirDefault) {
  const Case c = read_case(text("[[[2], [3]]]", "micro_step", "", shared_by("sums")), "."),
             standard = read_case(text("[[[2], [3]]]", "micro_step", "", shared_by("moments")), ".");

  EXPECT_EQ(read_case(write_case(c), "."), c);
  EXPECT_NE(write_case(c).find("\"sums\""), std::string::npos);
  EXPECT_EQ(write_case(standard).find("\"moments\""), std::string::npos);
}

TEST(MicroSteps, AreOfTheThirdVersionOfOneRankToo) {
  EXPECT_NE(refusal(text("[[2, 3]]", "micro_step", "", "", "2")).find("$.tally_case"), std::string::npos);
  EXPECT_EQ(refusal(text("[[2, 3]]", "micro_step")), "");
}

TEST(MicroSteps, AreAskedForWhereNoLayerSharesThem) {
  EXPECT_EQ(refusal(text("[[[2], [3]]]", "micro_batch", "", shared_by("sums"))),
            "$.execution.ranks.statistics: \"sums\" without a batch_norm of \"micro_step\" statistics; no "
            "\"statistics\", or such a layer");
}

TEST(MicroSteps, AreOneWindowInTheFullBatch) {
  const Case full = full_batch_of(read_case(text("[[[2], [3]]]", "micro_step", "", shared_by("sums")), "."));

  EXPECT_EQ(full.model.layers[1].text("statistics"), "window");
  EXPECT_TRUE(validate(full).empty());
}

}  // namespace
}  // namespace tally::micro_steps_test
