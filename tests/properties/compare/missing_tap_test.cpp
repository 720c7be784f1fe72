// One tap is missing from a trace: what other taps hold is judged all the same, or named as judged nowhere.
#include <algorithm>

#include "properties/judge/groups.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::missing_tap_test {
namespace {

Tensor of_values(const Tensor& like, double value) {
  Tensor other(like.dtype, like.shape);
  for (std::size_t i = 0; i < other.elements(); ++i) other.set(i, value);
  return other;
}

/// Without one tap, and with every value of another one changed.
Trace changed(const Trace& trace, std::size_t missing, std::size_t damaged, double value) {
  Trace some;
  some.claims = trace.claims, some.case_hash = trace.case_hash;
  for (std::size_t i = 0; i < trace.taps().size(); ++i) {
    const Tap& tap = trace.taps()[i];
    if (i != missing) some.add(tap.name, i == damaged ? of_values(tap.value, value) : tap.value);
  }
  return some;
}

bool passes(const GroupedChecks& found) {
  return std::none_of(found.checks.begin(), found.checks.end(), [](const TensorCheck& check) {
    return check.status == Status::fail || check.status == Status::not_run;
  });
}

/// Flags and counts have no room for it, and the targets' classes none but their own.
bool can_hold(const Tensor& value) {
  return value.elements() > 0 &&
         (value.dtype == Dtype::fp32 || value.dtype == Dtype::fp16 || value.dtype == Dtype::bf16);
}

TEST(MissingTap, HidesNoOtherTap) {
  constexpr double damage = 1000;
  std::size_t tried = 0;
  for (const bool everything : {false, true}) {
    const Case c = everything ? normal_everything(3) : normal_case(3);
    const Trace whole = run(c, {});
    const auto& taps = whole.taps();
    const std::size_t step = everything ? 53 : 5;
    for (std::size_t missing = 0; missing < taps.size(); missing += step) {
      for (std::size_t damaged = missing % step; damaged < taps.size(); damaged += step + 1) {
        if (damaged == missing || !can_hold(taps[damaged].value)) continue;
        const GroupedChecks found = hard_lenses(c, changed(whole, missing, damaged, damage), Grouping::inferred);
        EXPECT_FALSE(passes(found)) << "without " << taps[missing].name.text() << ": " << taps[damaged].name.text();
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 500u);
}

TEST(MissingTap, AccusesNoRightRun) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Case c = normal_case(seed, Dtype::fp32);
    const Trace whole = run(c, {});
    EXPECT_FALSE(whole.taps().empty());
    for (std::size_t missing = 0; missing < whole.taps().size(); missing += 5) {
      const GroupedChecks found = hard_lenses(c, changed(whole, missing, whole.taps().size(), 0), Grouping::inferred);
      EXPECT_EQ(first_failure(found.checks), nullptr)
          << "seed " << seed << ", without " << whole.taps()[missing].name.text() << ": "
          << told(first_failure(found.checks));
    }
  }
}

/// Each tap whose name ends with one of these texts goes missing, one at a time.
void expect_no_failure_without(const Case& c, const std::string& text) {
  const Trace whole = run(c, {});
  std::size_t tried = 0;
  for (std::size_t missing = 0; missing < whole.taps().size(); ++missing) {
    if (whole.taps()[missing].name.text().find(text) == std::string::npos) continue;
    const GroupedChecks found = hard_lenses(c, changed(whole, missing, missing, 0), Grouping::inferred);
    EXPECT_EQ(first_failure(found.checks), nullptr) << whole.taps()[missing].name.text();
    ++tried;
  }
  EXPECT_GT(tried, 1u) << text;
}

TEST(MissingTap, OfAStateThatAnotherMovesByIsMadeUpFor) {
  Case c = normal_case(3);
  c.recipe.optimizer = choice_of("optimizer", "rmsprop", {{"momentum", Decimal{"0.9"}}});
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 3);
  expect_no_failure_without(c, "/optimizer/square_avg.");
  expect_no_failure_without(c, "/optimizer/momentum_buffer.");
}

TEST(MissingTap, OfRunningStatisticsIsNotTakenForTheStateOfTheCase) {
  expect_no_failure_without(normal_everything(3), "/running_stats/");
}

}  // namespace
}  // namespace tally::missing_tap_test
