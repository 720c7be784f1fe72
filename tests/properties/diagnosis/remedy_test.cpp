#include <set>

#include "properties/diagnosis/restatement.hpp"
#include "properties/diagnosis/sentences.hpp"
#include "properties/diagnosis/suspect.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::remedy_test {
namespace {

/// Every name that "looks like" can say.
std::set<std::string> all_names() {
  std::set<std::string> names;
  for (const Suspect* suspect : suspects()) names.insert(suspect->name);
  for (const Restatement* restatement : restatements()) names.insert(restatement->name);
  return names;
}

TEST(Remedy, IsThereForEveryNameAndEndsWithoutAFullStop) {
  ASSERT_FALSE(all_names().empty());
  for (const std::string& name : all_names()) {
    const std::string remedy = remedy_of(name);
    EXPECT_FALSE(remedy.empty()) << name;
    EXPECT_FALSE(remedy.ends_with('.')) << name;
    EXPECT_EQ(remedy.find_first_of("{}"), std::string::npos) << name << ": " << remedy;
    EXPECT_EQ(std::count(remedy.begin(), remedy.end(), '`') % 2, 0) << name << ": " << remedy;
  }
  EXPECT_EQ(remedy_of("no-such-bug"), "");
}

TEST(Remedy, IsStatedOnce) {
  ASSERT_FALSE(restatements().empty());
  for (const Restatement* restatement : restatements())
    EXPECT_EQ(restatement->remedy.empty(), find_suspect(restatement->name) != nullptr) << restatement->name;
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
  ASSERT_FALSE(suspects().empty());
  for (const Suspect* suspect : suspects()) EXPECT_TRUE(calls.contains(suspect->call)) << suspect->name;
}

}  // namespace
}  // namespace tally::remedy_test
