#include "properties/diagnosis/evidence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernels/training_step/run/run.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::evidence_test {
namespace {

/// A step that works on other rows than the case gives a micro-batch leaves taps of other shapes: no formula may read
/// past their ends.
TEST(HeldEvidence, PassesOverATapOfAnotherShape) {
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
std::vector<Hypothesis> ways_of(const std::string& name, const std::string& stage, const std::string& tap, double right,
                                const Case& c = small_case()) {
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
TEST(HeldEvidence, IsNoRootOfANegativeNumber) {
  const auto of_four = roots_of(4), of_minus_four = roots_of(-4);
  ASSERT_FALSE(of_four.empty());
  for (const auto& left : of_four) EXPECT_EQ(left.value().front(), 2);
  for (const auto& left : of_minus_four) EXPECT_FALSE(left);
}

/// Half as much again is n/(n-1) of 3, which is no count of anything.
TEST(HeldEvidence, TakesCountsAloneForOneMoreOrLess) {
  std::map<std::string, double> said;
  for (const Hypothesis& way : ways_of("factor-of-counts", "optimizer", "w0/optimizer/fc1.weight", 1))
    said.emplace(way.sentence, way.left.front() ? way.left.front()->front() : 1);
  EXPECT_TRUE(said.contains("the right tensor times n/(n-1) of K"));
  EXPECT_EQ(said.at("the right tensor times 1 / 3"), 1 / 3.0);
  EXPECT_FALSE(said.contains("the right tensor times n/(n-1) of 3"));
  EXPECT_TRUE(said.contains("the right tensor times 1 / (1 - momentum of sgd)"));
}

TEST(HeldEvidence, TakesANumberOfTheRecipeAndWhatItLacksToOneForFactors) {
  std::map<std::string, double> said;
  const Case c = recipes().at("momentum");
  for (const Hypothesis& way : ways_of("factor-of-counts", "optimizer", "w0/optimizer/fc1.weight", 1, c))
    said.emplace(way.sentence, way.left.front() ? way.left.front()->front() : 1);
  EXPECT_EQ(said.at("the right tensor times momentum of sgd"), 0.9);
  EXPECT_EQ(said.at("the right tensor times 1 - momentum of sgd"), 1 - 0.9);
}

/// A number that the stage reads, such as the rate, is no term of a tensor.
TEST(HeldEvidence, CountsTheTensorsThatMayHaveBeenLeftOut) {
  const Case c = recipes().at("momentum");
  const Trace trace = run(c);
  TensorCheck check;
  check.tap = "w1/optimizer/fc1.weight", check.lens = "local", check.stage = "optimizer";
  Evidence evidence(c, trace, check);
  for (HeldTensor& held : evidence.held) {
    const Values gradient = evidence.tap(held.name.window, -1, "optimizer", "in.d." + held.name.tensor).value();
    for (std::size_t i = 0; i < gradient.size(); ++i) held.expected[i] = held.got[i] + gradient[i];
  }
  const std::vector<Hypothesis> ways = find_bug("term-added")->hypotheses(evidence);

  ASSERT_FALSE(ways.empty());
  EXPECT_EQ(ways.front().sentence, "the gradient is left out");
  EXPECT_EQ(ways.front().rivals, 9);  // parameter, gradient and momentum: left out, twice, or with the other sign
}

/// Of stages that are judged together an element has the bound that the check held it to.
TEST(HeldEvidence, HasTheBoundsOfAGroup) {
  const Case c = normal_case(7);
  Trace steps;
  const Trace whole = run(c);
  steps.claims = whole.claims, steps.case_hash = whole.case_hash;
  for (const Tap& tap : whole.taps())
    if (tap.name.stage == "accumulate" || tap.name.stage == "optimizer") steps.add(tap.name, tap.value);
  std::size_t of_groups = 0;
  for (const TensorCheck& check : hard_lenses(c, steps, Grouping::inferred).checks) {
    if (check.lens != "group" || !check.tap.ends_with("/buffer.fc1.weight")) continue;
    const auto worst = static_cast<std::size_t>(check.worst_index.at(0) * c.model.input + check.worst_index.at(1));
    const Evidence evidence(c, steps, check);
    ASSERT_NE(evidence.failing(), nullptr) << check.tap;
    EXPECT_EQ(evidence.failing()->bound.at(worst), check.bound) << check.tap;
    ++of_groups;
  }
  EXPECT_GT(of_groups, 0u);
}

}  // namespace
}  // namespace tally::evidence_test
