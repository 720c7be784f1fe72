#include <gtest/gtest.h>

#include <algorithm>

#include "properties/campaign/law_task.hpp"
#include "properties/faults/fault.hpp"
#include "properties/faults/trials/trials.hpp"

namespace tally::smallest_caught_test {
namespace {

FaultRecord record_of(const char* fault) { return run_fault(*find_fault(fault), {}); }

struct Fixture {
  RunOptions subject;
  const Law* law;
  std::vector<Case> cases;
};

Fixture fixture_of(const char* fault, int draws) {
  CampaignOptions options;
  options.shrink = false;
  options.subject.stages = &find_fault(fault)->stages();
  const Law* law = find_law(find_fault(fault)->laws.front());
  return {options.subject, law, failing_cases(*law, Dtype::fp32, options, draws)};
}

/// How many of the cases are caught at this magnitude.
std::size_t caught_at(double magnitude, const Fixture& fixture) {
  const AtMagnitude planted(magnitude);
  return static_cast<std::size_t>(std::count_if(fixture.cases.begin(), fixture.cases.end(), [&](const Case& c) {
    return outcome_of(*fixture.law, c, fixture.subject).status == Status::fail;
  }));
}

TEST(SmallestCaught, IsFoundThereAndNotAtHalfOfIt) {
  for (const char* fault : {"clip-epsilon-dropped", "extra-times-k", "tail-row-dropped", "bn-momentum-swapped"}) {
    const Fixture fixture = fixture_of(fault, 3);
    ASSERT_EQ(fixture.cases.size(), 3u) << fault;
    EXPECT_EQ(caught_at(1, fixture), 3u) << fault;

    const double smallest = smallest_caught(*fixture.law, fixture.cases, fixture.subject);

    EXPECT_LT(smallest, 1) << fault;
    EXPECT_GT(caught_at(smallest, fixture), 0u) << fault;
    EXPECT_EQ(caught_at(smallest / 2, fixture), 0u) << fault;
  }
}

TEST(SmallestCaught, IsTheSameEveryTime) {
  for (const char* name : {"divided-by-k-minus-1", "softmax-not-shifted"}) {
    EXPECT_EQ(record_of(name).smallest_caught, record_of(name).smallest_caught) << name;
  }
}

TEST(SmallestCaught, IsNotLookedForWithoutAKnobOrBelowMagnitude1) {
  EXPECT_EQ(record_of("boundary-off-by-one").smallest_caught, 0);
  const AtMagnitude planted(0.5);
  const FaultRecord half = record_of("extra-times-k");
  EXPECT_TRUE(half.caught);
  EXPECT_EQ(half.magnitude, 0.5);
  EXPECT_EQ(half.smallest_caught, 0);
}

}  // namespace
}  // namespace tally::smallest_caught_test
