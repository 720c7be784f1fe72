#include <gtest/gtest.h>

#include "properties/laws/judge.hpp"

namespace tally::refusal_test {
namespace {

Tensor number(double value) {
  Tensor tensor(Dtype::fp32, {1});
  tensor.set(0, value);
  return tensor;
}

Outcome vacuous_outcome() {
  Outcome outcome;
  outcome.status = Status::vacuous;
  outcome.message = "nothing was shown";
  return outcome;
}

TEST(Refusal, IsAVacuousVerdictBesideAGradient) {
  Trace trace;
  trace.add({0, 0, "backward", "d.fc.weight"}, number(1));
  EXPECT_EQ(refusal_of(vacuous_outcome(), trace), "nothing was shown");

  trace.add({0, -1, "unscale", "d.fc.weight"}, number(1));
  EXPECT_EQ(refusal_of(vacuous_outcome(), trace), "nothing was shown");
}

/// Equal numbers of both classes, and constant weights: the window's update is exactly zero.
TEST(Refusal, IsNoneWhereTheGradientsOfMicroBatchesCancel) {
  Trace trace;
  trace.add({0, 0, "backward", "d.fc.weight"}, number(1));
  trace.add({0, 1, "backward", "d.fc.weight"}, number(-1));
  trace.add({0, -1, "unscale", "d.fc.weight"}, number(0));

  EXPECT_EQ(refusal_of(vacuous_outcome(), trace), "");
}

}  // namespace
}  // namespace tally::refusal_test
