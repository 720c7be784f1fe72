#include <set>

#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/sentences.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::remedy_test {
namespace {

TEST(Remedy, IsThereForEveryNameAndEndsWithoutAFullStop) {
  ASSERT_FALSE(bugs().empty());
  for (const Bug* bug : bugs()) {
    const std::string remedy = remedy_of(bug->name);
    EXPECT_FALSE(remedy.empty()) << bug->name;
    EXPECT_FALSE(remedy.ends_with('.')) << bug->name;
    EXPECT_EQ(remedy.find_first_of("{}"), std::string::npos) << bug->name << ": " << remedy;
    EXPECT_EQ(std::count(remedy.begin(), remedy.end(), '`') % 2, 0) << bug->name << ": " << remedy;
  }
  EXPECT_EQ(remedy_of("no-such-bug"), "");
}

TEST(Remedy, SaysTheNumbersOfTheWindowAndMicroBatch) {
  Case c = normal_case(3);
  c.windows = {{5, 1}, {2, 4}};
  c.tensors.clear();
  fill_tensors(c);
  EXPECT_EQ(remedy_of("mean-of-means"),
            "divide by the window's N items, not by K times the micro-batch's own n_k: `loss.sum() / window_items`");
  EXPECT_EQ(remedy_at("mean-of-means", c, tap_name_of("w0/m1/loss/in.factor")),
            "divide by the window's 5 items, not by 2 times the micro-batch's own 1: `loss.sum() / window_items`");
  EXPECT_EQ(remedy_at("sum-not-mean", c, tap_name_of("w1/unscale/d.fc1.weight")),
            "divide by the window's 4 items: `loss.sum() / window_items`");
}

TEST(Remedy, NamesACallThatARecorderMaySee) {
  const std::set<std::string> calls{"", "loss", "backward", "unscale", "clip", "step"};
  ASSERT_FALSE(bugs().empty());
  for (const Bug* bug : bugs()) EXPECT_TRUE(calls.contains(bug->call)) << bug->name;
}

}  // namespace
}  // namespace tally::remedy_test
