#include "kernels/training_step/kind_steps.hpp"

#include "kernels/training_step/run.hpp"

namespace tally {
namespace {

template <class Steps>
const Steps& steps_of(const char* section, const Choice& choice) {
  return RegisterKind<Steps>::template of<NotSupported>("kernels", section, choice.kind);
}

}  // namespace

const LossSteps& loss_steps(const Choice& loss) { return steps_of<LossSteps>("loss", loss); }
const ClipSteps& clip_steps(const Choice& clip) { return steps_of<ClipSteps>("clip", clip); }
const DecaySteps& decay_steps(const Choice& decay) { return steps_of<DecaySteps>("weight_decay", decay); }
const OptimizerSteps& optimizer_steps(const Choice& optimizer) {
  return steps_of<OptimizerSteps>("optimizer", optimizer);
}
const ScheduleSteps& schedule_steps(const Choice& schedule) {
  return steps_of<ScheduleSteps>("learning_rate", schedule);
}
const LossScaleSteps& loss_scale_steps(const Choice& scale) { return steps_of<LossScaleSteps>("loss_scale", scale); }

}  // namespace tally
