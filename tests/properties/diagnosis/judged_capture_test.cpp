#include "properties/diagnosis/judged_capture.hpp"

#include "oracle/case/io.hpp"
#include "properties/judge/lens.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::judged_capture_test {
namespace {

/// What a recorder of buffers and steps alone would have seen.
Trace outputs_of(const Trace& trace, bool wrong) {
  Trace some;
  some.claims = trace.claims;
  some.case_hash = trace.case_hash;
  for (const Tap& tap : trace.taps()) {
    if (tap.name.tensor.starts_with("in.") || tap.name.stage == "forward") continue;
    Tensor value = tap.value;
    if (wrong && tap.name.text() == "w0/unscale/d.fc1.weight") value.set(0, 2 * value.value(0) + 1);
    some.add(tap.name, std::move(value));
  }
  return some;
}

TEST(JudgedCapture, FormsGroupsWhereTapsLeaveAGap) {
  const Case c = normal_case(1);
  const JudgedCapture judged = judged_capture(c, outputs_of(run(c), false));

  EXPECT_EQ(first_failure(judged.checks), nullptr) << told(first_failure(judged.checks));
  EXPECT_FALSE(judged.groups.empty());
  EXPECT_TRUE(judged.suspects.empty());
}

TEST(JudgedCapture, NamesFirstWhatTheRecorderSawAtWork) {
  Case c = normal_case(1);
  c.recipe.learning_rate = choice_of(
      "learning_rate", "step", {{"base", Decimal{"0.5"}}, {"every", std::int64_t{1}}, {"factor", Decimal{"0.5"}}});
  Case done = c;
  done.recipe.learning_rate = choice_of("learning_rate", "constant", {{"base", Decimal{"0.5"}}});
  Trace trace = run(done);  // as if the schedule never moved, or counted one step less
  trace.case_hash = hash_of(c);
  const std::vector<Suspicion> stated = judged_capture(c, trace).suspects;
  ASSERT_GE(stated.size(), 2u);

  const std::vector<Suspicion> seen = judged_capture(c, trace, {.seen = {stated.back().name, "the moon"}}).suspects;

  EXPECT_EQ(seen.size(), stated.size());
  EXPECT_EQ(seen.front().name, stated.back().name);
  EXPECT_EQ(seen.at(1).name, stated.front().name);
}

TEST(JudgedCapture, ByTheLocalLensAloneSaysWhatThatSays) {
  const Case c = normal_case(1);
  const Trace trace = run(c);
  std::size_t bytes = 0, last = 0;
  for (const Tap& tap : trace.taps()) bytes += tap.value.bytes.size();
  const JudgedCapture judged = judged_capture(c, trace, {false, [&](std::size_t done, const std::string& tap) {
                                                           EXPECT_GE(done, last) << tap;
                                                           EXPECT_NE(trace.find(tap), nullptr);
                                                           last = done;
                                                         }});
  const std::vector<TensorCheck> local = local_lens(c, trace);
  ASSERT_EQ(judged.checks.size(), local.size());
  for (std::size_t i = 0; i < local.size(); ++i) {
    EXPECT_EQ(judged.checks[i].tap, local[i].tap);
    EXPECT_EQ(judged.checks[i].status, local[i].status);
    EXPECT_EQ(judged.checks[i].worst_ratio, local[i].worst_ratio);
  }
  EXPECT_TRUE(judged.groups.empty());
  EXPECT_GT(last, bytes / 2);
  EXPECT_LE(last, bytes);
}

TEST(JudgedCapture, AsksTheSuspectsOfAGroup) {
  Case c = normal_case(1);
  c.windows = {{2, 3}};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 1);
  const Trace whole = run(c);
  Trace less;
  less.claims = whole.claims;
  for (const Tap& tap : whole.taps()) {
    if (tap.name.stage != "unscale" || tap.name.tensor.starts_with("in.")) continue;
    Tensor value = tap.value;
    for (std::size_t i = 0; i < value.elements(); ++i) value.set(i, value.value(i) * 0.75);
    less.add(tap.name, std::move(value));
  }
  const JudgedCapture judged = judged_capture(c, less);
  ASSERT_NE(first_failure(judged.checks), nullptr);
  EXPECT_EQ(first_failure(judged.checks)->lens, "group");
  ASSERT_FALSE(judged.suspects.empty());
  EXPECT_EQ(judged.suspects.front().name, "off-by-a-factor");
}

TEST(JudgedCapture, FindsWhatIsWrong) {
  const Case c = normal_case(1);
  const JudgedCapture judged = judged_capture(c, outputs_of(run(c), true));

  ASSERT_NE(first_failure(judged.checks), nullptr);
  EXPECT_EQ(first_failure(judged.checks)->tap, "w0/unscale/d.fc1.weight");
}

}  // namespace
}  // namespace tally::judged_capture_test
