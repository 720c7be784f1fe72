// Clipping by value with bounds: the limit itself is a constant that the subject rounds.
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/real/number.hpp"
#include "oracle/window/bound_stages.hpp"
#include "tests/oracle/undeclared.hpp"

namespace tally::oracle::bound_clip_test {
namespace {

Choice by_value(const char* max_value) { return {"value", {{"max_value", Decimal{max_value}}}}; }

Expected gradient(long double v, double e) {
  return {Matrix<long double>::Constant(1, 1, v), Matrix<double>::Constant(1, 1, e)};
}

TEST(BoundClip, CoversLimitsOfOppositeSignsWhereTheSubjectRoundsTheLimitUp) {
  for (const char* text : {"0.1", "0.3", "0.5", "0.7", "3"}) {
    const Choice clip = by_value(text);
    const auto limit = number<long double>(clip.number("max_value"));
    const float held = std::strtof(text, nullptr);
    const Expected exact = clipped(undeclared(), clip, {}, gradient(2 * limit, static_cast<double>(4 * limit)));
    EXPECT_EQ(exact.v(0, 0), limit);
    EXPECT_LT(std::fabs(-held - exact.v(0, 0)), exact.e(0, 0)) << text << ": the subject may stand at the other limit";
  }
}

TEST(BoundClip, PassesOnTheBoundOfWhatIsClearOfTheLimit) {
  const Expected inside = clipped(undeclared(), by_value("0.5"), {}, gradient(0.125L, 0x1p-10));
  EXPECT_EQ(inside.v(0, 0), 0.125L);
  EXPECT_EQ(inside.e(0, 0), 0x1p-10);
}

}  // namespace
}  // namespace tally::oracle::bound_clip_test
