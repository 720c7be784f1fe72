#include <gtest/gtest.h>

#include "reports/text/text.hpp"

namespace tally::nearest_test {
namespace {

TEST(Nearest, CountsSingleChanges) {
  EXPECT_EQ(edit_distance("clip", "clip"), 0u);
  EXPECT_EQ(edit_distance("clip", "slip"), 1u);
  EXPECT_EQ(edit_distance("clip", "lips"), 2u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, OffersWhatSomebodyMayHaveMeant) {
  const std::vector<std::string> names{"mean-of-means", "sum-not-mean", "last-only", "first-only"};

  EXPECT_EQ(nearest_names("mean-of-mean", names, 1), (std::vector<std::string>{"mean-of-means"}));
  EXPECT_EQ(nearest_names("lost-only", names, 2), (std::vector<std::string>{"last-only", "first-only"}));
  EXPECT_EQ(nearest_names("sum", names, 1), (std::vector<std::string>{"sum-not-mean"}));
  EXPECT_EQ(nearest_names("x", names, 9).size(), names.size());
}

TEST(Nearest, OffersNoneThatIsFar) {
  const std::vector<std::string> names{"mean-of-means", "over-k", "last-only", "first-only"};

  EXPECT_EQ(near_names("nosuch", names, 3), std::vector<std::string>{});
  EXPECT_EQ(near_names("lost-only", names, 3), (std::vector<std::string>{"last-only", "first-only"}));
  EXPECT_EQ(near_names("only", names, 3), (std::vector<std::string>{"last-only", "first-only"}));
}

}  // namespace
}  // namespace tally::nearest_test
