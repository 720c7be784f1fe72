// At magnitude 0 no fault with a knob is there: every run has the bits of the shipped stages. At 1 all of it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "kernels/training_step/multi_tensor.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/rank_keys.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/faults/fault.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/laws/law.hpp"

namespace tally::magnitude_test {
namespace {

constexpr int cases_a_law = 12;

Trace run_at(double magnitude, const Case& c, const Fault& fault) {
  const AtMagnitude planted(magnitude);
  RunOptions options;
  options.stages = &fault.stages();
  return run(c, options);
}

bool same_bits(const Trace& a, const Trace& b) {
  if (a.taps().size() != b.taps().size() || a.violations != b.violations) return false;
  return std::all_of(a.taps().begin(), a.taps().end(), [&](const Tap& tap) {
    const Tensor* other = b.find(tap.name.text());
    return other != nullptr && *other == tap.value;
  });
}

/// A plan in the law's domain. Kernels are the shipped ones: a fault replaces no other, but for a pass that fuses
/// stages, which runs only where a case asks for it.
Case next_case(PlanSource& source, const Law& law, const Fault& fault) {
  Plan plan = source.next();
  if (law.any_values) draw_values(plan);
  draw_formats(plan);
  if (law.shape) law.shape(plan);
  if (!declares_order(rank_word(plan.execution, "reduce.algorithm")))  // else bits need not repeat
    set_rank_option(plan.execution, "reduce.algorithm", std::string("in_order"));
  std::erase_if(plan.execution.kernels, [&](const auto& named) {
    return !is_fused_pass(named.first) || !fault.stages().variants.contains(named.first);
  });
  return case_of(plan);
}

/// For a law that runs a case of its own making, which goes on from a checkpoint, say.
bool breaks(const Law& law, double magnitude, const Case& c, const Fault& fault) {
  const AtMagnitude planted(magnitude);
  RunOptions subject;
  subject.stages = &fault.stages();
  return outcome_of(law, c, subject).status == Status::fail;
}

enum class Shown { no, at_one, at_zero };

Shown shown_by(const Case& c, const Law& law, const Fault& fault) {
  const Trace clean = run(c);
  if (!same_bits(clean, run_at(0, c, fault))) return Shown::at_zero;
  if (!same_bits(clean, run_at(1, c, fault))) return Shown::at_one;
  if (!breaks(law, 1, c, fault)) return Shown::no;
  return breaks(law, 0, c, fault) ? Shown::at_zero : Shown::at_one;
}

/// Looks, among the cases of the fault's laws, for one that shows it at magnitude 1; on the way none may at 0.
Shown shown(const Fault& fault) {
  for (const std::string& name : fault.laws) {
    const Law& law = *find_law(name);
    for (const Dtype storage : {Dtype::fp32, Dtype::fp16}) {
      PlanSource source(storage, default_seed, cases_a_law);
      for (int i = 0; i < cases_a_law; ++i) {
        const Shown found = shown_by(next_case(source, law, fault), law, fault);
        if (found != Shown::no) return found;
      }
    }
  }
  return Shown::no;
}

TEST(Magnitude, OfZeroLeavesEveryBitAndOfOneDoesNot) {
  std::size_t with_knob = 0;
  for (const Fault* fault : faults()) {
    if (fault->knob == "none") continue;
    ++with_knob;
    const Shown found = shown(*fault);
    EXPECT_NE(found, Shown::at_zero) << fault->name << " is there at magnitude 0";
    EXPECT_NE(found, Shown::no) << fault->name << " shows in no case at magnitude 1";
  }
  EXPECT_GE(with_knob, faults().size() / 2);
}

TEST(Magnitude, IsDeclaredByEveryFault) {
  const std::set<std::string> known = {"value", "elements", "rows", "steps", "none"};
  ASSERT_FALSE(faults().empty());
  for (const Fault* fault : faults()) EXPECT_TRUE(known.contains(fault->knob)) << fault->name << ": " << fault->knob;
}

TEST(Magnitude, BlendsFromRightToWrongAndIsExactAtBothEnds) {
  const double infinite = std::numeric_limits<double>::infinity();
  {
    const AtMagnitude planted(0);
    EXPECT_EQ(blend(3.0, infinite), 3);
    EXPECT_TRUE(std::signbit(blend(-0.0, 1.0)));
  }
  {
    const AtMagnitude planted(0.25);
    EXPECT_EQ(blend(3.0, 7.0), 4);
    EXPECT_EQ(blend(infinite, infinite), infinite);
    EXPECT_EQ(blend_whole(40, 32), 38);
    EXPECT_EQ(blend_whole(40, 37), 40);
    std::size_t hit = 0;
    for (std::size_t i = 0; i < 40; ++i) hit += hits(i);
    EXPECT_EQ(hit, 10u);
  }
  EXPECT_EQ(blend(0x1p60, 1.0), 1);
}

TEST(Magnitude, IsAShareAndEndsWithItsScope) {
  { const AtMagnitude planted(0.5); }
  EXPECT_EQ(magnitude(), 1);
  EXPECT_THROW(AtMagnitude(-0.5), std::invalid_argument);
  EXPECT_THROW(AtMagnitude(1.5), std::invalid_argument);
  EXPECT_THROW(AtMagnitude{std::numeric_limits<double>::quiet_NaN()}, std::invalid_argument);
  EXPECT_EQ(magnitude(), 1);
}

}  // namespace
}  // namespace tally::magnitude_test
