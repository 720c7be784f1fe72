#include "properties/diagnosis/evidence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernels/training_step/run/run.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/judge/lens.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::evidence_test {
namespace {

/// A step that works on other rows than the case gives a micro-batch leaves taps of other shapes: no formula may read
/// past their ends.
TEST(Evidence, PassesOverATapOfAnotherShape) {
  const Case c = small_case();  // micro-batches of 2 and 3 rows
  const Trace right = run(c);
  Trace wrong;
  wrong.claims = right.claims;
  wrong.case_hash = right.case_hash;
  for (const Tap& tap : right.taps()) {
    const bool gradient = tap.name.text() == "w0/m1/backward/in.d.relu#1.y";
    wrong.add(tap.name, gradient ? *right.find("w0/m0/backward/in.d.relu#1.y") : tap.value);
  }
  const TensorCheck none;
  const Evidence evidence(c, wrong, none);
  EXPECT_FALSE(evidence.tap(0, 1, "backward", "in.d.relu#1.y"));
  EXPECT_TRUE(evidence.tap(0, 0, "backward", "in.d.relu#1.y"));
  EXPECT_TRUE(evidence.tap(0, 1, "backward", "in.relu#1.x"));
  EXPECT_FALSE(evidence.tap(0, 1, "backward", "in.nothing.x"));
}

/// What a suspect says of a tap of a right run, where every held number should be `right`.
std::vector<Hypothesis> ways_of(const std::string& name, const std::string& stage, const std::string& tap,
                                double right) {
  const Case c = small_case();
  const Trace trace = run(c);
  TensorCheck check;
  check.tap = tap, check.lens = "local", check.stage = stage;
  Evidence evidence(c, trace, check);
  for (HeldTensor& held : evidence.held) std::ranges::fill(held.expected, right);
  return find_bug(name)->hypotheses(evidence);
}

std::vector<std::optional<Values>> roots_of(double right) {
  for (const Hypothesis& way : ways_of("output-left-as", "backward", "w0/m0/backward/d.fc1.weight", right))
    if (way.formula == "got = √expected") return way.left;
  return {};
}

/// Every NaN would be one.
TEST(Evidence, IsNoRootOfANegativeNumber) {
  const auto of_four = roots_of(4), of_minus_four = roots_of(-4);
  ASSERT_FALSE(of_four.empty());
  for (const auto& left : of_four) EXPECT_EQ(left.value().front(), 2);
  for (const auto& left : of_minus_four) EXPECT_FALSE(left);
}

/// Half as much again is n/(n-1) of 3, which is no count of anything.
TEST(Evidence, TakesCountsAloneForOneMoreOrLess) {
  std::set<std::string> said;
  for (const Hypothesis& way : ways_of("factor-of-counts", "optimizer", "w0/optimizer/fc1.weight", 1))
    said.insert(way.sentence);
  EXPECT_TRUE(said.contains("the right tensor times n/(n-1) of K"));
  EXPECT_TRUE(said.contains("the right tensor times 1 / 3"));
  EXPECT_FALSE(said.contains("the right tensor times n/(n-1) of 3"));
  EXPECT_TRUE(said.contains("the right tensor times 1 / (1 - momentum of sgd)"));
}

}  // namespace
}  // namespace tally::evidence_test
