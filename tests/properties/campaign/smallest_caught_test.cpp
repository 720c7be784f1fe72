#include "properties/campaign/smallest_caught.hpp"

#include <gtest/gtest.h>

#include "oracle/case/io.hpp"
#include "properties/campaign/fault_task.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/faults/magnitude.hpp"

namespace tally {
namespace {

FaultRecord record_of(const char* fault) {
  CampaignOptions options;
  options.cases = 40;
  return run_fault(*find_fault(fault), options);
}

Status status_at(double magnitude, const FaultRecord& record) {
  const AtMagnitude planted(magnitude);
  Subject subject;
  subject.stages = &find_fault(record.name)->stages();
  return outcome_of(*find_law(record.law), case_of_token(record.token), subject).status;
}

TEST(SmallestCaught, is_found_there_and_not_at_half_of_it) {
  for (const char* name : {"clip-epsilon-dropped", "extra-times-k", "tail-row-dropped", "bn-momentum-swapped"}) {
    const FaultRecord record = record_of(name);

    ASSERT_TRUE(record.caught) << name;
    ASSERT_FALSE(record.token.empty()) << name;
    EXPECT_GT(record.smallest_caught, 0) << name;
    EXPECT_EQ(status_at(record.smallest_caught, record), Status::fail) << name;
    EXPECT_NE(status_at(record.smallest_caught / 2, record), Status::fail) << name;
  }
}

TEST(SmallestCaught, is_the_same_every_time) {
  for (const char* name : {"divided-by-k-minus-1", "softmax-not-shifted", "second-product-lost"}) {
    EXPECT_EQ(record_of(name).smallest_caught, record_of(name).smallest_caught) << name;
  }
}

TEST(SmallestCaught, is_not_looked_for_without_a_knob_or_below_magnitude_1) {
  EXPECT_EQ(record_of("boundary-off-by-one").smallest_caught, 0);
  const AtMagnitude planted(0.5);
  const FaultRecord half = record_of("extra-times-k");
  EXPECT_TRUE(half.caught);
  EXPECT_EQ(half.magnitude, 0.5);
  EXPECT_EQ(half.smallest_caught, 0);
}

}  // namespace
}  // namespace tally
