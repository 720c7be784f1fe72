#include <gtest/gtest.h>

#include "reports/record/record.hpp"

namespace tally::words_test {
namespace {

Suspicion named(const char* name, double share = 1) {
  Suspicion suspect;
  suspect.name = name, suspect.share = share;
  return suspect;
}

TEST(Words, NameEverySuspectThatIsAsGoodOnce) {
  const std::string text =
      text_of(std::vector<Suspicion>{named("all-zero"), named("read-as"), named("read-as"), named("late", 0.5)});

  EXPECT_EQ(text, "looks like all-zero or read-as (explains 100 % of the error)");
}

TEST(Words, CountTheSuspectsBeyondAFew) {
  const std::string text =
      text_of(std::vector<Suspicion>{named("a"), named("b"), named("c"), named("c"), named("d"), named("e")});

  EXPECT_EQ(text, "looks like a or b or c or 2 more (explains 100 % of the error)");
}

}  // namespace
}  // namespace tally::words_test
