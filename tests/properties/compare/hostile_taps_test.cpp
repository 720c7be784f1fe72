// Traces with one tap that no kernel would leave: judged, and never passed or obeyed.
#include <limits>

#include "properties/diagnosis/diagnose.hpp"
#include "properties/judge/bound_terms.hpp"
#include "properties/judge/groups.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::hostile_taps_test {
namespace {

bool is_whole(Dtype dtype) { return dtype == Dtype::i64 || dtype == Dtype::u8; }

/// Bits that a reader may stumble over, in the tap's format.
std::vector<std::uint64_t> hostile_bits(const Tensor& tap) {
  if (tap.dtype == Dtype::u8) return {255, 2, tap.bits(0) == 0 ? 1u : 0u};
  if (tap.dtype == Dtype::i64) {
    using Limits = std::numeric_limits<std::int64_t>;
    const auto before = static_cast<std::int64_t>(tap.bits(0));
    std::vector<std::uint64_t> bits;
    for (const std::int64_t value : {std::int64_t{-1}, Limits::min(), Limits::max(), Limits::max() - 1,
                                     std::int64_t{1} << 40, before + 2, before + 1000})
      bits.push_back(static_cast<std::uint64_t>(value));
    return bits;
  }
  Tensor scratch(tap.dtype, {});
  std::vector<std::uint64_t> bits;
  for (const double value : {std::nan(""), HUGE_VAL, -3e38}) {
    scratch.set(0, value);
    bits.push_back(scratch.bits(0));
  }
  return bits;
}

/// The trace with other bits in one tap's first element, of those that `keeps` wants.
template <class F>
Trace altered_in(const Trace& trace, const std::string& name, std::uint64_t bits, F&& keeps) {
  Trace copy;
  copy.claims = trace.claims;
  copy.groups = trace.groups;
  copy.case_hash = trace.case_hash;
  for (const Tap& tap : trace.taps()) {
    if (!keeps(tap.name)) continue;
    Tensor value = tap.value;
    if (tap.name.text() == name) value.set_bits(0, bits);
    copy.add(tap.name, std::move(value));
  }
  return copy;
}

/// Of so many traces one is diagnosed too, which takes far longer than to judge it.
constexpr std::size_t diagnosed = 16;

/// As `tally check` judges it; true where that says pass.
bool passes(const Case& c, const Trace& trace) {
  static std::size_t judged = 0;
  auto checks = hard_lenses(c, trace, Grouping::inferred).checks;
  if (judged++ % diagnosed == 0) {
    split_bounds(c, trace, checks);
    diagnose(c, trace, checks);
  }
  return first_failure(checks) == nullptr && count(checks, Status::pass) > 0 && count(checks, Status::not_run) == 0;
}

/// Steps of a scaler and a schedule whose search for overflow is not tapped go on from the trace's own taps.
Case scaled_case() {
  Case c = normal_case(3);
  c.recipe.loss_scale = choice_of("loss_scale", "dynamic", {{"initial", Decimal{"1024"}}});
  c.recipe.learning_rate = choice_of(
      "learning_rate", "step", {{"base", Decimal{"0.1"}}, {"every", std::int64_t{1}}, {"factor", Decimal{"0.3"}}});
  c.recipe.clip = choice_of("clip", "global_norm", {{"max_norm", Decimal{"0.1"}}});
  c.recipe.optimizer = choice_of("optimizer", "adam");
  return c;
}

bool is_scalar(const Tap& tap) { return tap.value.elements() == 1; }

/// Of every scalar and every tensor of whole numbers, and of one in `every` others.
template <class F>
std::vector<std::string> passing_in_silence(const Case& c, F&& keeps, std::size_t every) {
  const Trace clean = run(c);
  std::vector<std::string> silent;
  std::size_t number = 0, altered = 0;
  for (const Tap& tap : clean.taps()) {
    const bool counted = is_scalar(tap) || is_whole(tap.value.dtype);
    if (!keeps(tap.name) || tap.value.elements() == 0 || (!counted && ++number % every != 0)) continue;
    for (const std::uint64_t bits : hostile_bits(tap.value)) {
      if (bits == tap.value.bits(0)) continue;
      ++altered;
      const std::string name = tap.name.text();
      if (passes(c, altered_in(clean, name, bits, keeps))) silent.push_back(name + " " + std::to_string(bits));
    }
  }
  EXPECT_GT(altered, 0u);
  return silent;
}

bool every_tap(const TapName&) { return true; }
bool without_the_search(const TapName& name) { return name.stage != "overflow_check"; }

TEST(HostileTaps, NoneIsObeyedOrPassesInSilence) {
  for (const Case& c : {normal_case(1), normal_everything(1), scaled_case()}) {
    EXPECT_EQ(passing_in_silence(c, every_tap, 20), std::vector<std::string>{}) << c.name;
  }
}

TEST(HostileTaps, OfEveryRecipeScalarsAndCountsAreHeld) {
  for (const auto& [name, c] : recipes()) {
    EXPECT_EQ(passing_in_silence(c, every_tap, 1000), std::vector<std::string>{}) << name;
  }
}

TEST(HostileTaps, CountsAreHeldWhereTheSearchForOverflowIsNotTapped) {
  EXPECT_EQ(passing_in_silence(scaled_case(), without_the_search, 1000), std::vector<std::string>{});
}

/// The tap and nothing else of its tensor: no producer and no consumer tells what it must be.
TEST(HostileTaps, AloneTheyCrashNothing) {
  for (const Case& c : {normal_everything(1), scaled_case()}) {
    const Trace clean = run(c);
    std::size_t judged = 0;
    for (const Tap& tap : clean.taps()) {
      if (!is_scalar(tap) && !is_whole(tap.value.dtype)) continue;
      const std::string tensor = tap.name.tensor.substr(tap.name.tensor.starts_with("in.") ? 3 : 0);
      const auto keeps = [&](const TapName& name) {
        return name == tap.name || (name.tensor != tensor && name.tensor != "in." + tensor);
      };
      for (const std::uint64_t bits : hostile_bits(tap.value)) {
        passes(c, altered_in(clean, tap.name.text(), bits, keeps));
        ++judged;
      }
    }
    EXPECT_GT(judged, 0u);
  }
}

}  // namespace
}  // namespace tally::hostile_taps_test
