// The shipped stages, and the steps that each kind registers.
#include "kernels/training_step/stages.hpp"

#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/run/run.hpp"

namespace tally {

const Stages& shipped_stages() {
  static const Stages stages{.window = stage::run_window,
                             .begin_window = stage::begin_window,
                             .learning_rate = stage::fix_learning_rate,
                             .cast = stage::cast,
                             .all_gather = stage::all_gather,
                             .receive = stage::receive,
                             .send = stage::send,
                             .forward = stage::forward,
                             .sync_statistics = stage::sync_statistics,
                             .running_stats = stage::running_stats,
                             .factor = stage::fix_factor,
                             .loss = stage::loss,
                             .backward = stage::backward,
                             .fork = stage::fork,
                             .share = stage::share,
                             .accumulate = stage::accumulate,
                             .reduce = stage::reduce,
                             .overflow_check = stage::overflow_check,
                             .copy_down = stage::copy_down,
                             .copy_up = stage::copy_up,
                             .agree = stage::agree,
                             .unscale = stage::unscale,
                             .norm = stage::norm,
                             .clip = stage::clip,
                             .decay = stage::decay,
                             .optimizer = stage::optimizer,
                             .gather_updated = stage::gather_updated,
                             .scaler = stage::scaler,
                             .schedule = stage::schedule,
                             .end_window = stage::end_window,
                             .save_checkpoint = stage::save_checkpoint,
                             .load_checkpoint = stage::load_checkpoint,
                             .gemm = stage::gemm};
  return stages;
}

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
