// Whose running values a batch_norm of several ranks has: read, written, refused.
#include <gtest/gtest.h>

#include "oracle/case/io.hpp"
#include "oracle/case/ranks.hpp"
#include "tests/oracle/case/batch_norm_text.hpp"
#include "tests/oracle/case/refusal.hpp"

namespace tally::rank_running_test {
namespace {

const char* const two_ranks = "[[[2], [3]]]";
const char* const each = R"(, "running": "each")";

TEST(RunningOfRanks, AreTheFirstOnesUnlessTheCaseSaysOtherwise) {
  const Case c = read_case(text(two_ranks, "micro_batch"), "."),
             own = read_case(text(two_ranks, "micro_batch", each), ".");

  EXPECT_TRUE(takes_first_running(c, c.model.layers[1]));
  EXPECT_FALSE(keeps_each_running(c, c.model.layers[1]));
  EXPECT_EQ(running_values_of(c, c.model.layers[1]), 1u);
  EXPECT_FALSE(takes_first_running(own, own.model.layers[1]));
  EXPECT_TRUE(keeps_each_running(own, own.model.layers[1]));
  EXPECT_TRUE(keeps_each_running(part_of(own, 1), own.model.layers[1]));
  EXPECT_EQ(running_values_of(own, own.model.layers[1]), 2u);
}

TEST(RunningOfRanks, SurviveBeingWrittenAndAreLeftOutAtTheirDefault) {
  const Case c = read_case(text(two_ranks, "micro_batch"), "."),
             own = read_case(text(two_ranks, "micro_batch", each), ".");

  EXPECT_EQ(read_case(write_case(own), "."), own);
  EXPECT_NE(write_case(own).find("\"running\":"), std::string::npos);
  EXPECT_EQ(write_case(c).find("\"running\":"), std::string::npos);
  EXPECT_EQ(write_case(read_case(text(two_ranks, "micro_batch", R"(, "running": "first_rank")"), ".")), write_case(c));
}

TEST(RunningOfRanks, LeaveACaseOfOneRankItsText) {
  const Case c = read_case(text("[[2, 3]]", "micro_batch", "", "", "1"), ".");

  EXPECT_FALSE(takes_first_running(c, c.model.layers[1]));
  EXPECT_NE(write_case(c).find("\"tally_case\": 1"), std::string::npos);
}

TEST(RunningOfRanks, AreAskedOfSeveralRanksThatMoveThem) {
  EXPECT_EQ(refusal(text("[[2, 3]]", "micro_batch", each)),
            "$.model.layers[1].running: \"each\" of one rank; "
            "no \"running\", or several ranks and \"micro_batch\" statistics");
  EXPECT_EQ(refusal(text(two_ranks, "frozen", each)),
            "$.model.layers[1].running: \"each\" beside \"frozen\" statistics; "
            "no \"running\", or several ranks and \"micro_batch\" statistics");
  EXPECT_EQ(refusal(text(two_ranks, "window")),
            "$.model.layers[1].statistics: \"window\" beside ranks; \"micro_batch\", \"micro_step\" or \"frozen\"");
  EXPECT_EQ(refusal(text("[[[2, 1], [2]]]", "micro_batch")),
            "$.windows[0][0][1]: a micro-batch of one row under \"micro_batch\" statistics; at least 2 rows");
  EXPECT_EQ(refusal(text(two_ranks, "micro_batch", each, "", "2")).substr(0, 13), "$.tally_case:");
}

TEST(RunningOfRanks, AreForgottenInTheFullBatch) {
  const Case own = read_case(text(two_ranks, "micro_batch", each), ".");

  const Case full = full_batch_of(own);

  EXPECT_EQ(full.model.layers[1].text("statistics"), "window");
  EXPECT_FALSE(says_running(full.model.layers[1]));
  EXPECT_TRUE(validate(full).empty());
}

}  // namespace
}  // namespace tally::rank_running_test
