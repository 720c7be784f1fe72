#include "kernels/training_step/kind_steps.hpp"

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

const RegisterClipSteps registered("value", {"clip_by_value", clip, fuse});

}  // namespace
}  // namespace tally::value_steps
