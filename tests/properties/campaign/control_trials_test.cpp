#include <gtest/gtest.h>

#include "properties/campaign/law_task.hpp"
#include "properties/laws/law.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::control_trials_test {
namespace {

int asked = 0;

/// A law whose control says `of` of every case.
Law law_that(bool (*of)(const Case&, const RunOptions&)) {
  Law law;
  law.name = "of_this_test";
  law.differs = of;
  asked = 0;
  return law;
}

TEST(ControlTrials, EndWithTheFirstThatDiffers) {
  const Law law = law_that([](const Case&, const RunOptions&) { return ++asked == 3; });
  ControlTrials trials(law, {});
  while (trials.wanted()) EXPECT_FALSE(trials.try_on(small_case()).has_value());
  EXPECT_EQ(asked, 3);
  EXPECT_TRUE(trials.differed());
}

TEST(ControlTrials, EndWithoutADifference) {
  const Law law = law_that([](const Case&, const RunOptions&) { return ++asked, false; });
  ControlTrials trials(law, {});
  while (trials.wanted() && asked < 1000) trials.try_on(small_case());
  EXPECT_LT(asked, 1000);
  EXPECT_FALSE(trials.differed());
  EXPECT_FALSE(trials.all_declined());
}

TEST(ControlTrials, CountACaseThatTheShippedStepCannotRun) {
  const Law law = law_that([](const Case&, const RunOptions&) -> bool {
    ++asked;
    throw NotSupported("not this one");
  });
  ControlTrials trials(law, {});
  while (trials.wanted() && asked < 1000) EXPECT_FALSE(trials.try_on(small_case()).has_value());
  EXPECT_LT(asked, 1000);
  EXPECT_FALSE(trials.differed());
}

TEST(ControlTrials, AreNotWantedOfALawWithoutAControl) {
  const Law law = law_that(nullptr);
  EXPECT_FALSE(ControlTrials(law, {}).wanted());
}

}  // namespace
}  // namespace tally::control_trials_test
