// How a step runs each clip and each weight decay.
#include "kernels/training_step/kind_steps.hpp"

namespace tally::global_norm_steps {
namespace {

ClipCoefficientArguments constants(const Run& run) {
  const Choice& clip = run.c.recipe.clip;
  return {run.gradient_norm.as<float>(), run.coefficient.as<float>(),
          static_cast<float>(clip.number("max_norm").to_double()),
          static_cast<float>(clip.number("epsilon").to_double())};
}

void coefficient(Run& run) { run.launch("clip_coefficient", constants(run)); }

void clip(Run& run, Parameter& parameter) {
  run.launch<ClipByNormArguments>("clip_by_norm",
                                  {parameter.unscaled.as<float>(), run.coefficient.as<float>(), parameter.elements});
}

void fuse(const Run& run, ClipDecayStepArguments& arguments) {
  arguments.clip = ClipKind::by_norm;
  arguments.by_norm = constants(run);
}

const RegisterKind<ClipSteps> registered("global_norm", {"clip_by_norm", clip, fuse, coefficient, "clip_coefficient"});

}  // namespace
}  // namespace tally::global_norm_steps

namespace tally::value_steps {
namespace {

float limit(const Run& run) { return static_cast<float>(run.c.recipe.clip.number("max_value").to_double()); }

void clip(Run& run, Parameter& parameter) {
  run.launch<ClipByValueArguments>("clip_by_value", {parameter.unscaled.as<float>(), parameter.elements, limit(run)});
}

void fuse(const Run& run, ClipDecayStepArguments& arguments) {
  arguments.clip = ClipKind::by_value;
  arguments.max_value = limit(run);
}

const RegisterKind<ClipSteps> registered("value", {"clip_by_value", clip, fuse});

}  // namespace
}  // namespace tally::value_steps

namespace tally::decoupled_steps {
namespace {

const RegisterKind<DecaySteps> registered("decoupled", {.operation = "decay.decoupled", .fused = DecayKind::decoupled});

}  // namespace
}  // namespace tally::decoupled_steps

namespace tally::l2_steps {
namespace {

const RegisterKind<DecaySteps> registered("l2", {.operation = "decay.l2", .fused = DecayKind::l2});

}  // namespace
}  // namespace tally::l2_steps
