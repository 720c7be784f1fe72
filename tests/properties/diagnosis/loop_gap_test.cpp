#include <cmath>

#include "oracle/exact/answer.hpp"
#include "properties/diagnosis/judged_capture.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/two_runs.hpp"
#include "tests/properties/compare/lens_cases.hpp"
#include "tests/properties/compare/opaque_case.hpp"

namespace tally::loop_gap_test {
namespace {

Case uneven(Normalisation normalisation) {
  Case c = normal_case(3);
  c.windows = {{5, 1}, {2, 4}};
  c.normalisation = normalisation;
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 3);
  return c;
}

std::vector<TensorCheck> checks_of(const Case& c, const Trace& trace) {
  return hard_lenses(c, trace, Grouping::inferred).checks;
}

TEST(LoopGap, IsWhatTheRecipeThatTheLoopFollowsChanges) {
  const Case stated = uneven(Normalisation::window_items);
  const Case done = uneven(Normalisation::mean_of_means);
  const Trace trace = run(done);
  const double exact = oracle::first_gradient_gap(done);
  const auto rounding = first_gradient_drift(checks_of(stated, run(stated)));
  ASSERT_TRUE(rounding);
  ASSERT_GT(exact, rounding->bound);

  const auto known = loop_gap(stated, trace, checks_of(stated, trace));
  ASSERT_TRUE(known);
  EXPECT_EQ(known->window, 0);
  EXPECT_LE(std::fabs(known->gradient - exact), rounding->bound);

  const Case opaque = opaque_of(stated);
  const Trace given = opaque_of(stated, trace);
  const auto of_given = loop_gap(opaque, given, checks_of(opaque, given));
  ASSERT_TRUE(of_given);
  EXPECT_LE(std::fabs(of_given->gradient - exact), rounding->bound);
}

TEST(LoopGap, IsThatOfTheWindowThatFailsFirst) {
  const Case c = opaque_of(uneven(Normalisation::window_items));
  Trace trace = opaque_of(uneven(Normalisation::window_items), run(uneven(Normalisation::window_items)));
  Trace doubled;
  doubled.claims = trace.claims;
  for (const Tap& tap : trace.taps()) {
    Tensor value = tap.value;
    if (tap.name.window == 1 && tap.name.stage == "accumulate" && tap.name.tensor.starts_with("buffer."))
      for (std::size_t i = 0; i < value.elements(); ++i) value.set(i, 2 * value.value(i));
    doubled.add(tap.name, std::move(value));
  }
  const auto gap = loop_gap(c, doubled, checks_of(c, doubled));
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->window, 1);
  const auto rounding = first_gradient_drift(checks_of(c, trace));
  ASSERT_TRUE(rounding);
  EXPECT_LE(std::fabs(gap->gradient - 1), 2 * rounding->bound);
}

TEST(LoopGap, IsNotKnownWhereNothingFailsOrGradientsAreMissing) {
  const Case c = opaque_of(uneven(Normalisation::window_items));
  const Trace right = opaque_of(uneven(Normalisation::window_items), run(uneven(Normalisation::window_items)));
  EXPECT_FALSE(loop_gap(c, right, checks_of(c, right)));
  const Trace wrong = opaque_of(uneven(Normalisation::window_items), run(uneven(Normalisation::mean_of_means)));
  Trace some;
  some.claims = wrong.claims;
  for (const Tap& tap : wrong.taps())
    if (tap.name.stage != "backward") some.add(tap.name, tap.value);
  const std::vector<TensorCheck> checks = checks_of(c, some);
  ASSERT_NE(first_failure(checks), nullptr);
  EXPECT_FALSE(loop_gap(c, some, checks));
}

}  // namespace
}  // namespace tally::loop_gap_test
