#include <gtest/gtest.h>

#include "properties/diagnosis/sentences.hpp"

namespace tally::faulty_call_test {
namespace {

const std::map<std::string, CodePlace> places{{"loss", {"train.py", 1, ""}},
                                              {"backward", {"train.py", 2, ""}},
                                              {"clip", {"train.py", 3, ""}},
                                              {"step", {"train.py", 4, ""}}};

JudgedCapture failing_at(const std::string& tap, const std::string& suspect = "") {
  JudgedCapture judged;
  judged.checks.emplace_back();
  judged.checks.back().lens = "local", judged.checks.back().status = Status::fail;
  judged.checks.back().tap = tap;
  if (!suspect.empty()) judged.suspects.emplace_back(), judged.suspects.back().name = suspect;
  return judged;
}

std::int64_t line_of(const std::string& tap, const std::string& suspect = "") {
  const auto place = faulty_call(failing_at(tap, suspect), places);
  return place ? place->line : 0;
}

TEST(FaultyCall, IsThatOfTheStageThatFails) {
  EXPECT_EQ(line_of("w0/m0/loss/d.y"), 1);
  EXPECT_EQ(line_of("w0/m0/accumulate/buffer.a"), 2);
  EXPECT_EQ(line_of("w0/clip/coefficient"), 3);
  EXPECT_EQ(line_of("w0/optimizer/a"), 4);
  EXPECT_EQ(line_of("w0/unscale/d.a"), 4);  // no unscale_ was seen
}

TEST(FaultyCall, IsWhereTheLikeliestCauseEnters) {
  EXPECT_EQ(line_of("w0/optimizer/a", "mean-of-means"), 1);
  EXPECT_EQ(line_of("w1/m0/accumulate/in.buffer.a", "missing-zero-between-windows"), 4);
  EXPECT_EQ(line_of("w0/m1/accumulate/in.buffer.a", "clip-per-microbatch"), 3);
  EXPECT_EQ(line_of("w0/m0/loss/d.y", "off-by-a-factor"), 1);
}

TEST(FaultyCall, IsNoneWhereNothingFailsOrNothingWasSeen) {
  EXPECT_FALSE(faulty_call({}, places));
  EXPECT_FALSE(faulty_call(failing_at("w0/m0/loss/d.y"), {{"step", places.at("step")}}));
}

}  // namespace
}  // namespace tally::faulty_call_test
