// A kind that no kernels take is refused by its section and its name: no other kind stands in for it.
#include "kernels/training_step/kind_steps.hpp"

#include <gtest/gtest.h>

#include "kernels/training_step/run/run.hpp"

namespace tally::kind_steps_test {
namespace {

template <class Steps>
std::string refusal_of(const Steps& (*steps)(const Choice&), const char* kind) {
  try {
    steps(Choice{kind, {}});
  } catch (const NotSupported& refused) {
    return refused.what();
  }
  return "";
}

TEST(KindSteps, RefuseAKindThatNoFileRegistered) {
  EXPECT_EQ(refusal_of(loss_steps, "hinge"), "no kernels for the loss \"hinge\"");
  EXPECT_EQ(refusal_of(clip_steps, "none"), "no kernels for the clip \"none\"");
  EXPECT_EQ(refusal_of(decay_steps, "l1"), "no kernels for the weight_decay \"l1\"");
  EXPECT_EQ(refusal_of(optimizer_steps, "lamb"), "no kernels for the optimizer \"lamb\"");
  EXPECT_EQ(refusal_of(schedule_steps, "cubic"), "no kernels for the learning_rate \"cubic\"");
  EXPECT_EQ(refusal_of(loss_scale_steps, "static"), "no kernels for the loss_scale \"static\"");
}

TEST(KindSteps, FindTheRecordOfAKind) {
  EXPECT_STREQ(clip_steps(Choice{"value", {}}).operation, "clip_by_value");
  EXPECT_EQ(decay_steps(Choice{"decoupled", {}}).fused, DecayKind::decoupled);
}

}  // namespace
}  // namespace tally::kind_steps_test
